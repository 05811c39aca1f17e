package githubsim

import (
	"fmt"
	"strconv"
	"strings"
)

// page cuts a list to the page asked for, and says in the Link header where
// the others are.
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
func page[T any](a *asked, list []T) []T {
	number := func(key string, otherwise int) int {
		if n, err := strconv.Atoi(a.URL.Query().Get(key)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	size := min(number("per_page", 30), 100)
	last := max((len(list)+size-1)/size, 1)
	at := min(number("page", 1), last+1)
	a.link(at, last)
	from := min((at-1)*size, len(list))
	return list[from:min(from+size, len(list))]
}

func (a *asked) link(at, last int) {
	var links []string
	to := func(page int, rel string) {
		query := a.URL.Query()
		query.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, a.origin(), a.URL.EscapedPath(), query.Encode(), rel))
	}
	if at > 1 {
		to(at-1, "prev")
	}
	if at < last {
		to(at+1, "next")
		to(last, "last")
	}
	if at > 1 {
		to(1, "first")
	}
	if len(links) > 0 {
		a.header.Set("Link", strings.Join(links, ", "))
	}
}

// origin is the address that links begin with.
func (a *asked) origin() string {
	if a.sim.url != "" {
		return a.sim.url
	}
	return "http://" + a.Host
}
