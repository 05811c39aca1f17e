package bot

import (
	"context"
	"fmt"
)

// Group lists the members of a user group. A group that is switched off, or
// that there is not, is an error: nobody can tell who is meant by it.
// https://docs.slack.dev/reference/methods/usergroups.users.list
func (s *Slack) Group(ctx context.Context, id string) ([]string, error) {
	api, err := s.use()
	if err != nil {
		return nil, err
	}
	members, err := api.GetUserGroupMembersContext(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("look up user group %s: %w", id, troubleOf(err).Err)
	}
	return members, nil
}
