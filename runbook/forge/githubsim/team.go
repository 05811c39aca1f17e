package githubsim

import (
	"hash/fnv"
	"strings"
)

// teamJSON is a team, named org/team, as lists of teams have it.
func (s *Sim) teamJSON(fullName string) map[string]any {
	org, slug, _ := strings.Cut(fullName, "/")
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(fullName)) // never fails
	id := int64(hash.Sum32())
	at := s.apiURL("organizations", org, "team", slug)
	return map[string]any{
		"id": id, "node_id": node("Team", id), "name": slug, "slug": slug, "description": nil, "privacy": "closed",
		"notification_setting": "notifications_enabled", "permission": "push", "type": "organization", "organization_id": id, "url": at, "html_url": s.url + "/orgs/" + org + "/teams/" + slug,
		"members_url": at + "/members{/member}", "repositories_url": at + "/repos", "parent": nil,
	}
}
