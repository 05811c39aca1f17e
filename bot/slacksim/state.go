package slacksim

// What a person has chosen in a message stays chosen in their client, and goes
// along with everything they do there.

// remember keeps what was chosen. The lock is held.
func (s *Sim) remember(user, ts string, e element, action obj) {
	kind := str(e.body["type"])
	if !stateful(kind) {
		return
	}
	key := user + " " + ts
	if s.chosen[key] == nil {
		s.chosen[key] = map[string]obj{}
	}
	value := obj{"type": kind}
	value[valueKey(kind)] = action[valueKey(kind)]
	s.chosen[key][e.block+" "+str(e.body["action_id"])] = value
}

// Fill types into the inputs that a message has, by block id or action id. The
// app hears of it with the next thing the person does there.
func (p *Place) Fill(messageTS string, values map[string]string) error {
	s := p.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	u, c, err := p.where()
	if err != nil {
		return err
	}
	m, err := c.shown(messageTS, u, 0)
	if err != nil {
		return err
	}
	for _, e := range placedElements(m.everyBlock()) {
		for _, name := range []string{e.block, str(e.body["action_id"])} {
			typed, ok := values[name]
			if !ok {
				continue
			}
			value, err := valueOf(s.withOffers(u.ID, e).body, typed)
			if err != nil {
				return err
			}
			s.remember(u.ID, m.TS, e, value)
		}
	}
	return nil
}

// messageState is what stands in a message's elements for one person.
func (s *Sim) messageState(user string, m Message) obj {
	state := obj{}
	for _, e := range placedElements(m.everyBlock()) {
		kind, action := str(e.body["type"]), str(e.body["action_id"])
		if !stateful(kind) {
			continue
		}
		value, chosen := s.chosen[user+" "+m.TS][e.block+" "+action]
		if !chosen {
			var err error
			if value, err = inputValue(e.body, "", false); err != nil {
				continue
			}
		}
		block, _ := state[e.block].(obj)
		if block == nil {
			block = obj{}
			state[e.block] = block
		}
		block[action] = value
	}
	return state
}

// stateful tells which elements keep what was chosen.
func stateful(kind string) bool {
	switch kind {
	case "button", "overflow", "image", "workflow_button", "feedback_buttons", "icon_button", "url", "":
		return false
	}
	return len(kind) < 9 || kind[:9] != "rich_text" || kind == "rich_text_input"
}

// responseURLs are those of the channels that were chosen in a modal's selects
// with response_url_enabled, https://docs.slack.dev/surfaces/modals.
func (s *Sim) responseURLs(u *User, v *View, state obj) []obj {
	urls := []obj{}
	for _, e := range elements(v.Blocks) {
		if e.body["response_url_enabled"] != true {
			continue
		}
		block, _ := state[e.block].(obj)
		action := str(e.body["action_id"])
		value, _ := block[action].(obj)
		room := s.channels[str(value[valueKey(str(e.body["type"]))])]
		if room == nil {
			continue
		}
		urls = append(urls, obj{
			"block_id": e.block, "action_id": action, "channel_id": room.ID,
			"response_url": s.hook("app", hook{user: u.ID, channel: room.ID}),
		})
	}
	return urls
}
