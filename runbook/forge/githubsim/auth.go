package githubsim

import (
	"net/http"
	"strings"
)

// actor is who sends a request: an account, by a token that may do less than
// the account; or a GitHub App, by an installation's token or as itself.
type actor struct {
	login string
	// rights are what the token may do; nil is everything that the account may.
	rights map[string]string
	// fine is set for a fine-grained token of a person.
	fine bool
	// in is the installation whose token it is.
	in *installation
	// app is the App that signed the request itself.
	app *app
}

// credential is what a request carries: as a bearer, as GitHub's older
// "token", or as the password of any user.
func credential(req *http.Request) string {
	if _, password, ok := req.BasicAuth(); ok {
		return password
	}
	kind, value, ok := strings.Cut(req.Header.Get("Authorization"), " ")
	if ok && (strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token")) {
		return strings.TrimSpace(value)
	}
	return ""
}

// actor finds who sends a request.
func (s *Sim) actor(req *http.Request) (actor, *failure) {
	token := credential(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	if login, ok := s.tokens[token]; ok && token != "" {
		u := s.users[login]
		return actor{login: login, rights: u.Rights, fine: u.Rights != nil}, nil
	}
	if minted, ok := s.minted[token]; ok {
		return s.installed(minted)
	}
	if strings.Count(token, ".") == 2 {
		return s.signed(token)
	}
	return actor{}, &failure{status: http.StatusUnauthorized, message: "Bad credentials"}
}

// level orders the levels of rights, each including those before.
func level(name string) int {
	return map[string]int{"read": 1, "write": 2, "admin": 3}[name]
}

// has tells whether a token may do something, such as "contents=write".
func (a actor) has(right string) bool {
	name, least, _ := strings.Cut(right, "=")
	return a.rights == nil || level(a.rights[name]) >= level(least)
}

// allowed tells whether a token has what an address needs: rights with a comma
// between them are needed together, a semicolon stands between alternatives.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
func (a actor) allowed(needs string) bool {
	for alternative := range strings.SplitSeq(needs, ";") {
		all := true
		for right := range strings.SplitSeq(alternative, ",") {
			all = all && a.has(strings.TrimSpace(right))
		}
		if all {
			return true
		}
	}
	return false
}

// beyond is GitHub's answer to a token that lacks a right.
func (a actor) beyond() *failure {
	what := "integration"
	if a.fine {
		what = "personal access token"
	}
	return &failure{status: http.StatusForbidden, message: "Resource not accessible by " + what}
}

// permit checks a request against what its address needs.
func (s *Sim) permit(a *asked, needs string) *failure {
	switch {
	case needs == forApps && a.actor.app == nil:
		return &failure{status: http.StatusUnauthorized, message: "A JSON web token could not be decoded"}
	case needs == forApps:
		return nil
	case a.actor.app != nil:
		return a.actor.beyond()
	case needs == forPeople:
		if a.actor.in != nil {
			return a.actor.beyond()
		}
		return nil
	case needs == forAll:
		return nil
	}
	// What a token can't see does not exist for it, whatever its rights.
	if a.PathValue("repo") != "" {
		if _, err := a.repo(Read); err != nil {
			return &failure{status: http.StatusNotFound, message: "Not Found"}
		}
	}
	return a.need(needs)
}

// need asks for a right, and tells the sender which it was.
func (a *asked) need(needs string) *failure {
	if a.actor.rights != nil {
		a.header.Set("X-Accepted-GitHub-Permissions", needs)
	}
	if !a.actor.allowed(needs) {
		return a.actor.beyond()
	}
	return nil
}
