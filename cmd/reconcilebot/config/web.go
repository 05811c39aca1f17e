package config

import (
	"net/url"
	"strings"
)

// Web is the address under which people see the Git host's pages, without a
// slash at its end.
//
// Source: GitHub Enterprise Server serves its API under /api/v3 of the host
// that serves its pages
// (https://docs.github.com/enterprise-server/rest/quickstart).
func (g GitHub) Web() string {
	u, err := url.Parse(g.API)
	if g.API == "" || err != nil || u.Host == "api.github.com" {
		return "https://github.com"
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v3")
}
