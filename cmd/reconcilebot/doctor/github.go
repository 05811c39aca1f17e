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
	LackingRights(context.Context, forge.Repo) ([]forge.Needed, error)
}

// installer tells who has a GitHub App, and with which rights.
type installer interface {
	Installations(context.Context) ([]forge.Installation, error)
}

// GitHub is the Git host with the repositories that Argo CD deploys from.
type GitHub struct {
	Host host
	// App is the App that the bot signs in as; nil with a token.
	App installer
	// Beside are rights that something else in the config uses, such as issues
	// for tickets.
	Beside []string
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
func (g GitHub) Checks() []Check {
	if g.App != nil {
		return []Check{g.account, g.installations, g.repositories}
	}
	return []Check{g.account, g.repositories}
}

func (g GitHub) account(ctx context.Context) []Finding {
	login, scopes, err := g.Host.Whoami(ctx)
	if err != nil {
		if g.App != nil {
			return []Finding{githubArea.fail("app", "check github.app and github.api", "%s", reason(ctx, err))}
		}
		return []Finding{githubArea.fail("token", "make a fine-grained token with the rights "+named(forge.NeededRights())+"; and check github.api", "%s", reason(ctx, err))}
	}
	if g.App != nil {
		return []Finding{githubArea.ok("app", "acts as %s", login)}
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

// installations compares what each owner granted with what is needed.
func (g GitHub) installations(ctx context.Context) (found []Finding) {
	all, err := g.App.Installations(ctx)
	if err != nil {
		return []Finding{githubArea.fail("installations", "mend the App's sign-in first", "can't be listed: %s", reason(ctx, err))}
	}
	if len(all) == 0 {
		return []Finding{githubArea.fail("installations", "install the App with the organisations that have the repositories", "there are none")}
	}
	for _, in := range all {
		found = append(found, g.installation(in)...)
	}
	return found
}

func (g GitHub) installation(in forge.Installation) (found []Finding) {
	check := "installation " + in.Owner
	if in.Suspended {
		return []Finding{githubArea.fail(check, "lift the suspension in the organisation's settings, GitHub Apps", "is suspended")}
	}
	for _, n := range in.Rights.Missing() {
		cure := "add it to the App's permissions; then the organisation's owner has to accept it"
		if n.Optional {
			found = append(found, githubArea.warn(check, cure, "lacks the right %s: %s, which the bot uses %s", n.Name, n.Level, n.Why))
		} else {
			found = append(found, githubArea.fail(check, cure, "lacks the right %s: %s, which the bot needs %s", n.Name, n.Level, n.Why))
		}
	}
	if excess := in.Rights.Excess(g.Beside...); len(excess) > 0 {
		found = append(found, githubArea.warn(check, "take it out of the App's permissions", "has more than the bot uses: %s", strings.Join(excess, "; ")))
	}
	if in.All {
		found = append(found, githubArea.warn(check, "choose only the repositories that are deployed from, in the organisation's settings, GitHub Apps", "is open to all repositories"))
	}
	if len(found) == 0 {
		found = append(found, githubArea.ok(check, "has the rights that are needed and no others"))
	}
	return found
}

// named lists rights as people grant them.
func named(rights []forge.Needed) string {
	var words []string
	for _, n := range rights {
		words = append(words, n.Name+": "+n.Level)
	}
	return strings.Join(words, ", ")
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
		return githubArea.fail(b.repo.String(), "give the token's account the role Write, or the App contents: write", "can be read, but not written")
	}
	if lacking := g.lacking(ctx, b.repo); lacking != "" {
		return githubArea.fail(b.repo.String(), "give the token the right "+lacking, "the token lacks the right %s", lacking)
	}
	switch {
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

// lacking names the rights that a fine-grained token has not got; what can't
// be told is not held against it.
func (g GitHub) lacking(ctx context.Context, repo forge.Repo) string {
	if g.App != nil {
		return ""
	}
	rights, err := g.Host.LackingRights(ctx, repo)
	if err != nil {
		return ""
	}
	return named(rights)
}
