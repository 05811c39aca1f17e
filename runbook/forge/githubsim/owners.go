package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"reconcilebot/runbook/forge"
)

// codeowners is the file that names the owners at a commit; no path if there
// is none.
func (r *repo) codeowners(sha string) (path, content string) {
	for _, path := range forge.CodeownersPaths {
		if content, err := r.git("cat-file", "blob", sha+":"+path); err == nil {
			return path, content
		}
	}
	return "", ""
}

// owners are those of a file by the CODEOWNERS at a commit.
func (r *repo) owners(sha, file string) []string {
	_, rules := r.codeowners(sha)
	return forge.Owners([]byte(rules), file)
}

// ownersAgree tells whether an owner of every changed file approved. The
// owners are those of the base branch: a pull request does not choose its own.
func (r *repo) ownersAgree(p *pull, words map[string]string) bool {
	changes, err := r.changes(p.baseSHA, p.headSHA)
	if err != nil {
		return false
	}
	for _, c := range changes {
		owners := r.owners(p.baseSHA, c.path)
		if len(owners) > 0 && !slices.ContainsFunc(owners, func(owner string) bool { return r.approvedBy(owner, words) }) {
			return false
		}
	}
	return true
}

func (r *repo) approvedBy(owner string, words map[string]string) bool {
	name := strings.TrimPrefix(owner, "@")
	logins := []string{name}
	if strings.Contains(name, "/") {
		logins = r.sim.teams[name]
	}
	return slices.ContainsFunc(logins, func(login string) bool {
		return words[login] == "APPROVED" && r.may(login) >= Write
	})
}

// getOwnersErrors lists what GitHub would not understand in CODEOWNERS.
// https://docs.github.com/en/rest/repos/repos#list-codeowners-errors
func (s *Sim) getOwnersErrors(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	_, sha, err := r.asked(a)
	if err != nil {
		return 0, nil, err
	}
	path, content := r.codeowners(sha)
	if path == "" {
		return 0, nil, notFound()
	}
	problems := []map[string]any{}
	for i, line := range strings.Split(content, "\n") {
		for _, p := range r.ownersProblems(line) {
			p["line"], p["source"], p["path"] = i+1, line, path
			p["message"] = fmt.Sprintf("%s on line %d: %s\n\n  %s\n  %*s", p["kind"], i+1, p["suggestion"], line, p["column"], "^")
			problems = append(problems, p)
		}
	}
	return http.StatusOK, map[string]any{"errors": problems}, nil
}

// ownersProblems are those of one line.
func (r *repo) ownersProblems(line string) (problems []map[string]any) {
	rule, _, _ := strings.Cut(line, "#")
	fields := strings.Fields(rule)
	if len(fields) == 0 {
		return nil
	}
	problem := func(kind, word, suggestion string) {
		problems = append(problems, map[string]any{"kind": kind, "column": strings.Index(line, word) + 1, "suggestion": suggestion})
	}
	if strings.HasPrefix(fields[0], "!") || strings.ContainsAny(fields[0], "[]") {
		problem("Invalid pattern", fields[0], "patterns here know neither ! nor [ ]")
	}
	for _, owner := range fields[1:] {
		name, ok := strings.CutPrefix(owner, "@")
		org, _, isTeam := strings.Cut(name, "/")
		switch {
		case !ok && strings.Contains(owner, "@"): // an e-mail address
		case !ok:
			problem("Invalid owner", owner, "owners are @user, @org/team or an e-mail address")
		case isTeam && (r.sim.teams[name] == nil || org != r.owner):
			problem("Unknown owner", owner, "make sure the team "+owner+" exists, is publicly visible, and has write access to the repository")
		case !isTeam && r.may(name) < Write:
			problem("Unknown owner", owner, "make sure "+owner+" exists and has write access to the repository")
		}
	}
	return problems
}
