package slacksim

// Uninstall takes the app out of the workspace, or puts it back. The bot's
// token is then answered with account_inactive, and the two events that Slack
// sends of it go out, in no promised order.
// https://docs.slack.dev/reference/events/app_uninstalled
func (s *Sim) Uninstall(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone && !s.inactive {
		s.emit("tokens_revoked", "", obj{"tokens": obj{"oauth": []string{}, "bot": []string{s.app.UserID}}})
		s.emit("app_uninstalled", "", obj{})
	}
	s.inactive = gone
	s.bump()
}
