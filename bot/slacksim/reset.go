package slacksim

// Reset forgets what was said and done: messages, views, files, faults,
// findings and logs. People, channels and open sockets stay, and so do used
// ids and timestamps, which never come again.
func (s *Sim) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		c.messages, c.ephemeral, c.pins, c.bookmarks = nil, nil, nil, nil
	}
	s.modals, s.homes = map[string][]*View{}, map[string]*View{}
	s.triggers, s.hooks = map[string]*trigger{}, map[string]*hook{}
	s.uploads, s.files, s.fileIDs = map[string]*upload{}, map[string]*File{}, nil
	s.scheduled = nil
	s.offers, s.chosen = map[string][]any{}, map[string]map[string]obj{}
	s.limits, s.faults = limiter{}, nil
	s.findings, s.found = nil, map[string]bool{}
	s.calls, s.traffic = nil, nil
	s.bump()
}
