package githubsim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

func (s *Sim) getRepo(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, r.json(a.login), nil
}

// json is the repository as an account sees it: only who administers it is
// told its merge settings.
func (r *repo) json(login string) map[string]any {
	body := r.described()
	body["permissions"] = r.rights(login)
	if slices.ContainsFunc(r.sim.installs, func(in *installation) bool { return in.app.bot() == login }) {
		body["permissions"] = map[string]bool{"pull": false, "triage": false, "push": false, "maintain": false, "admin": false}
	}
	if r.may(login) >= Write {
		body["allow_merge_commit"] = r.allows("merge")
		body["allow_squash_merge"] = r.allows("squash")
		body["allow_rebase_merge"] = r.allows("rebase")
		body["delete_branch_on_merge"] = r.options.DeleteBranches
	}
	return body
}

// repoLinks are the addresses under a repository's, by their names.
var repoLinks = map[string]string{
	"archive_url": "{archive_format}{/ref}", "assignees_url": "assignees{/user}", "blobs_url": "git/blobs{/sha}", "branches_url": "branches{/branch}",
	"collaborators_url": "collaborators{/collaborator}", "comments_url": "comments{/number}", "commits_url": "commits{/sha}",
	"compare_url": "compare/{base}...{head}", "contents_url": "contents/{+path}", "contributors_url": "contributors", "deployments_url": "deployments",
	"downloads_url": "downloads", "events_url": "events", "forks_url": "forks", "git_commits_url": "git/commits{/sha}", "git_refs_url": "git/refs{/sha}",
	"git_tags_url": "git/tags{/sha}", "hooks_url": "hooks", "issue_comment_url": "issues/comments{/number}", "issue_events_url": "issues/events{/number}",
	"issues_url": "issues{/number}", "keys_url": "keys{/key_id}", "labels_url": "labels{/name}", "languages_url": "languages", "merges_url": "merges",
	"milestones_url": "milestones{/number}", "notifications_url": "notifications{?since,all,participating}", "pulls_url": "pulls{/number}",
	"releases_url": "releases{/id}", "stargazers_url": "stargazers", "statuses_url": "statuses/{sha}", "subscribers_url": "subscribers",
	"subscription_url": "subscription", "tags_url": "tags", "teams_url": "teams", "trees_url": "git/trees{/sha}",
}

// described is the repository as everybody who sees it sees it.
func (r *repo) described() map[string]any {
	page := r.sim.url + "/" + r.fullName()
	created := stamp(r.created)
	body := map[string]any{
		"id": r.id, "node_id": node("Repository", r.id), "name": r.name, "full_name": r.fullName(), "private": true, "visibility": "private",
		"owner": r.sim.ownerJSON(r.owner), "url": r.sim.apiURL("repos", r.fullName()), "html_url": page, "clone_url": page + ".git",
		"git_url": page + ".git", "ssh_url": page + ".git", "svn_url": page, "mirror_url": nil, "homepage": nil, "description": nil, "language": nil,
		"license": nil, "default_branch": "main", "fork": false, "archived": false, "disabled": false, "is_template": false, "topics": []string{},
		"created_at": created, "updated_at": created, "pushed_at": created, "size": 0,
	}
	for _, count := range []string{"forks", "forks_count", "open_issues", "open_issues_count", "stargazers_count", "watchers", "watchers_count", "network_count", "subscribers_count"} {
		body[count] = 0
	}
	for _, has := range []string{"has_issues", "has_projects", "has_wiki", "has_pages", "has_discussions", "has_downloads"} {
		body[has] = has == "has_issues"
	}
	for name, path := range repoLinks {
		body[name] = r.sim.apiURL("repos", r.fullName(), path)
	}
	return body
}

// protectionJSON is a branch protection, as who administers it sees it.
func (r *repo) protectionJSON(branch string, p *Protection) map[string]any {
	at := r.sim.apiURL("repos", r.fullName(), "branches", url.PathEscape(branch), "protection")
	on := func(enabled bool) map[string]any { return map[string]any{"enabled": enabled} }
	body := map[string]any{
		"url":                              at,
		"enforce_admins":                   map[string]any{"url": at + "/enforce_admins", "enabled": true},
		"required_linear_history":          on(p.Linear),
		"allow_force_pushes":               on(false),
		"allow_deletions":                  on(false),
		"block_creations":                  on(false),
		"required_conversation_resolution": on(false),
		"lock_branch":                      on(p.Locked),
		"allow_fork_syncing":               on(false),
		"required_signatures":              map[string]any{"url": at + "/required_signatures", "enabled": p.Signed},
	}
	if p.Reviews > 0 || p.CodeOwners {
		body["required_pull_request_reviews"] = map[string]any{
			"url": at + "/required_pull_request_reviews", "dismiss_stale_reviews": p.DismissStale, "require_code_owner_reviews": p.CodeOwners,
			"required_approving_review_count": p.Reviews, "require_last_push_approval": p.LastPush,
		}
	}
	if len(p.Checks) > 0 {
		body["required_status_checks"] = map[string]any{"url": at + "/required_status_checks", "strict": p.Strict, "contexts": p.Checks, "contexts_url": at + "/required_status_checks/contexts", "checks": contexts(p.Checks)}
	}
	if p.Pushers != nil {
		body["restrictions"] = r.pushersJSON(at+"/restrictions", p.Pushers)
	}
	return body
}

func (r *repo) pushersJSON(at string, pushers []string) map[string]any {
	users, teams, apps := []map[string]any{}, []map[string]any{}, []map[string]any{}
	for _, name := range pushers {
		if team, ok := strings.CutPrefix(name, "@"); ok {
			teams = append(teams, r.sim.teamJSON(team))
		} else if i := slices.IndexFunc(r.sim.apps, func(p *app) bool { return p.Slug == name }); i >= 0 {
			apps = append(apps, r.sim.appJSON(r.sim.apps[i]))
		} else if user := r.sim.userJSON(name); user != nil {
			users = append(users, user)
		}
	}
	return map[string]any{
		"url": at, "users_url": at + "/users", "teams_url": at + "/teams", "apps_url": at + "/apps",
		"users": users, "teams": teams, "apps": apps,
	}
}

// mayPush tells whether a restriction lets an account push.
func (r *repo) mayPush(p *Protection, login string) bool {
	return p.Pushers == nil || slices.ContainsFunc(p.Pushers, func(name string) bool {
		team, ok := strings.CutPrefix(name, "@")
		return name == login || name+"[bot]" == login || ok && slices.Contains(r.sim.teams[team], login)
	})
}
