package doctor

import (
	"context"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/forge"
)

// host is the part of the Git host that is asked.
type host interface {
	Whoami(context.Context) (login string, scopes []string, err error)
	CanWrite(context.Context, forge.Repo) (bool, error)
	Rules(ctx context.Context, repo forge.Repo, branch string) (forge.Rules, error)
}

// GitHub is the Git host with the repositories that Argo CD deploys from.
type GitHub struct {
	Host host
	// Web is the address of its pages: repositories elsewhere are not its.
	Web string
	// Apps lists the Applications of all clusters.
	Apps func(context.Context) ([]argocd.App, error)
}

const (
	githubArea area = "github"
	// maxRepos bounds how many repositories are looked at.
	maxRepos = 50
)

// Checks lists what to look at.
func (g GitHub) Checks() []Check { return []Check{g.account, g.repositories} }

func (g GitHub) account(ctx context.Context) []Finding {
	login, scopes, err := g.Host.Whoami(ctx)
	if err != nil {
		return []Finding{githubArea.fail("token", "make a token with the rights contents: write, pull requests: write, checks and administration: read; and check github.api", "%s", reason(ctx, err))}
	}
	found := []Finding{githubArea.ok("token", "is %s's", login)}
	for _, scope := range scopes {
		// Classic tokens name scopes; those that own more than repositories
		// are a danger that the bot has no use for.
		if slices.Contains([]string{"delete_repo", "site_admin"}, scope) || strings.HasPrefix(scope, "admin:") {
			found = append(found, githubArea.warn("token", "make a fine-grained token, or a classic one with repo and read:org", "has the scope %s, which the bot does not need", scope))
		}
	}
	return found
}

// branch is where an Application takes its manifests from.
type branch struct {
	repo forge.Repo
	name string
}

func (g GitHub) repositories(ctx context.Context) []Finding {
	apps, err := g.Apps(ctx)
	if err != nil {
		return []Finding{githubArea.warn("repositories", "mend Argo CD first", "which there are can't be told: %s", reason(ctx, err))}
	}
	found, branches := g.branches(apps)
	if len(branches) > maxRepos {
		found = append(found, githubArea.ok("repositories", "looked at the first %d of %d branches", maxRepos, len(branches)))
		branches = branches[:maxRepos]
	}
	for _, b := range branches {
		found = append(found, g.repository(ctx, b))
	}
	if len(found) == 0 {
		return []Finding{githubArea.warn("repositories", "", "no Application has one")}
	}
	return found
}

// branches collects where manifests come from, each once.
func (g GitHub) branches(apps []argocd.App) (found []Finding, all []branch) {
	for _, app := range apps {
		for _, source := range app.Sources {
			repo, err := forge.ParseRepo(source.RepoURL)
			switch {
			case source.Chart != "":
			case err != nil || !strings.HasPrefix(source.RepoURL, g.Web+"/"):
				found = append(found, githubArea.warn("repositories", "", "%s comes from %s, which is not on %s: it can be reverted, but not adopted into Git", app.Name, address(source.RepoURL), g.Web))
			case !slices.Contains(all, branch{repo, source.TargetRevision}):
				all = append(all, branch{repo, source.TargetRevision})
			}
		}
	}
	return found, all
}

// address is a repository's address without the user that it may have.
func address(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

func (g GitHub) repository(ctx context.Context, b branch) Finding {
	may, err := g.Host.CanWrite(ctx, b.repo)
	switch {
	case err != nil:
		return githubArea.fail(b.repo.String(), "give the token's account access to the repository", "%s", reason(ctx, err))
	case !may:
		return githubArea.fail(b.repo.String(), "give the token's account the role Write", "can be read, but not written")
	case b.name == "" || b.name == "HEAD":
		return githubArea.ok(b.repo.String(), "can be written")
	}
	rules, err := g.Host.Rules(ctx, b.repo, b.name)
	switch {
	case err != nil:
		return githubArea.warn(b.repo.String(), "", "rules of branch %s: %s", b.name, reason(ctx, err))
	case !rules.Readable:
		return githubArea.warn(b.repo.String(), "give the token the right administration: read", "can be written, but the rules of branch %s can't be read: %s", b.name, rules.Why)
	case !rules.Protected:
		return githubArea.warn(b.repo.String(), "protect the branch, so that nobody can pass by a review", "can be written; branch %s has no protection", b.name)
	}
	return githubArea.ok(b.repo.String(), "can be written; branch %s asks for %s and %s", b.name, plural(rules.Reviews, "review"), plural(len(rules.Checks), "check"))
}
