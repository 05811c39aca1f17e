package slacksim

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// order is the body of every POST of the control API; each route reads what
// it needs of it.
type order struct {
	User    string            `json:"user"`
	Channel string            `json:"channel"`
	Thread  string            `json:"thread"`
	Text    string            `json:"text"`
	TS      string            `json:"ts"`
	Element string            `json:"element"` // action id or a button's text
	Choice  string            `json:"choice"`
	Version int               `json:"version"`
	View    string            `json:"view"`
	Values  map[string]string `json:"values"`
	ID      string            `json:"id"` // a shortcut's callback id
	How     string            `json:"how"`
	Name    string            `json:"name"`
	On      bool              `json:"on"`
	Seconds float64           `json:"seconds"`
	Count   int               `json:"count"`
	Rule    *Rule             `json:"rule"`
	Group   *Group            `json:"group"`
	New     *Channel          `json:"new"`
	Person  *User             `json:"person"`
	Speed   float64           `json:"speed"`

	Snapshot json.RawMessage `json:"snapshot"`
}

// control serves /_sim/: the same as the methods of Sim and Actor, for those
// outside the process.
func (s *Sim) control(mux *http.ServeMux) {
	for name, do := range s.orders() {
		mux.HandleFunc("POST /_sim/"+name, guard(func(w http.ResponseWriter, r *http.Request) {
			var o order
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&o); err != nil {
				writeJSON(w, http.StatusBadRequest, obj{"ok": false, "error": "read the request: " + err.Error()})
				return
			}
			result, err := do(r.Context(), o)
			answerOrder(w, result, err)
		}))
	}
	for name, look := range s.views() {
		mux.HandleFunc("GET /_sim/"+name, guard(func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusOK, look(r))
		}))
	}
	mux.HandleFunc("GET /_sim/events", guard(s.stream))
	mux.HandleFunc("GET /_sim/wait", guard(s.waitFor))
}

func answerOrder(w http.ResponseWriter, result any, err error) {
	body := obj{"ok": err == nil, "result": result}
	if err != nil {
		body["error"] = err.Error()
	}
	writeJSON(w, http.StatusOK, body)
}

// guard keeps other sites' pages, open in the same browser, from acting here.
func guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(host)
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "use the address 127.0.0.1 or localhost", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
				http.Error(w, "requests from other sites are refused", http.StatusForbidden)
				return
			}
		}
		next(w, r)
	}
}

type orderFunc = func(context.Context, order) (any, error)

// orders are the routes that do something.
func (s *Sim) orders() map[string]orderFunc {
	return map[string]orderFunc{
		"command": func(ctx context.Context, o order) (any, error) {
			return s.As(o.User).In(o.Channel).InThread(o.Thread).Slash(ctx, o.Text)
		},
		"click": func(ctx context.Context, o order) (any, error) {
			if o.View != "" {
				return s.As(o.User).ActInView(ctx, o.View, o.Element, o.Choice, o.Values)
			}
			if o.TS == "" {
				o.TS = s.newest(o)
			}
			here := s.As(o.User).In(o.Channel)
			if len(o.Values) > 0 {
				if err := here.Fill(o.TS, o.Values); err != nil {
					return nil, err
				}
			}
			return here.act(ctx, o.TS, o.Element, o.Choice, o.Version)
		},
		"submit": func(ctx context.Context, o order) (any, error) {
			return s.As(o.User).Submit(ctx, o.View, o.Values)
		},
		"close": func(ctx context.Context, o order) (any, error) { return s.As(o.User).CloseView(ctx, o.View) },
		"shortcut": func(ctx context.Context, o order) (any, error) {
			if o.TS == "" {
				return s.As(o.User).GlobalShortcut(ctx, o.ID)
			}
			return s.As(o.User).In(o.Channel).MessageShortcut(ctx, o.TS, o.ID)
		},
		"message": func(ctx context.Context, o order) (any, error) {
			return s.As(o.User).In(o.Channel).InThread(o.Thread).Mention(ctx, o.Text)
		},
		"reset":      func(context.Context, order) (any, error) { s.Reset(); return nil, nil },
		"reload":     func(_ context.Context, o order) (any, error) { s.As(o.User).Reload(); return nil, nil },
		"invite":     func(_ context.Context, o order) (any, error) { return nil, s.As(o.User).In(o.Channel).Invite(o.Name) },
		"membership": func(_ context.Context, o order) (any, error) { return nil, s.setMember(o) },
		"share":      s.setChannel(func(c *Channel, o order) { c.ExtShared = o.On }),
		"archive":    s.setChannel(func(c *Channel, o order) { c.Archived = o.On }),
		"rename":     s.setChannel(func(c *Channel, o order) { c.Name = o.Name }),
		"rekey":      s.setChannel(func(c *Channel, o order) { c.ID = o.ID }),
		"channel":    func(_ context.Context, o order) (any, error) { return s.newChannel(o) },
		"person":     func(_ context.Context, o order) (any, error) { return nil, s.newPerson(o) },
		"group":      func(_ context.Context, o order) (any, error) { return nil, s.newGroup(o) },
		"deactivate": func(_ context.Context, o order) (any, error) {
			return nil, s.SetUser(o.User, func(u *User) { u.Deleted = o.On })
		},
		"revoke":       func(_ context.Context, o order) (any, error) { s.Revoke(o.Name, o.On); return nil, nil },
		"faults":       func(_ context.Context, o order) (any, error) { return nil, s.newFault(o) },
		"faults/clear": func(context.Context, order) (any, error) { s.ClearFaults(); return nil, nil },
		"storm":        func(_ context.Context, o order) (any, error) { s.Storm(o.Count); return nil, nil },
		"uninstall":    func(_ context.Context, o order) (any, error) { s.Uninstall(o.On); return nil, nil },
		"mention": func(ctx context.Context, o order) (any, error) {
			return s.As(o.User).In(o.Channel).InThread(o.Thread).Mention(ctx, "@"+s.app.Name+" "+o.Text)
		},
		"suggest": func(ctx context.Context, o order) (any, error) {
			if o.View != "" {
				return s.As(o.User).SuggestInView(ctx, o.View, o.Element, o.Text)
			}
			return s.As(o.User).In(o.Channel).Suggest(ctx, o.TS, o.Element, o.Text)
		},
		"react": func(_ context.Context, o order) (any, error) {
			return nil, s.As(o.User).In(o.Channel).React(o.TS, o.Name)
		},
		"home":       func(_ context.Context, o order) (any, error) { return s.As(o.User).OpenHome() },
		"disconnect": func(_ context.Context, o order) (any, error) { return s.Disconnect(Disconnect(o.How)), nil },
		"link/on":    func(context.Context, order) (any, error) { s.LinkOn(); return nil, nil },
		"snapshot": func(context.Context, order) (any, error) {
			raw, err := s.Snapshot()
			return json.RawMessage(raw), err
		},
		"restore":       func(_ context.Context, o order) (any, error) { return nil, s.Restore(o.Snapshot) },
		"clock/speed":   func(_ context.Context, o order) (any, error) { return nil, s.setSpeed(o) },
		"clock/advance": func(_ context.Context, o order) (any, error) { return nil, s.advance(o) },
	}
}

// newest is the ts of the last message in a channel that has the element: a
// script need not know timestamps.
func (s *Sim) newest(o order) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.room(o.Channel)
	if c == nil {
		return ""
	}
	for _, m := range slices.Backward(c.messages) {
		if _, err := pick(placedElements(m.everyBlock()), o.Element); err == nil {
			return m.TS
		}
	}
	return ""
}

func (s *Sim) setChannel(change func(*Channel, order)) orderFunc {
	return func(_ context.Context, o order) (any, error) {
		return nil, s.SetChannel(o.Channel, func(c *Channel) { change(c, o) })
	}
}

func (s *Sim) setMember(o order) error {
	if o.On {
		return s.As(o.User).In(o.Channel).Invite(o.User)
	}
	return s.As(o.User).In(o.Channel).Leave()
}

func (s *Sim) newChannel(o order) (any, error) {
	if o.New == nil {
		return nil, fmt.Errorf("add a channel: give it as new")
	}
	return s.AddChannel(*o.New)
}

func (s *Sim) newPerson(o order) error {
	if o.Person == nil {
		return fmt.Errorf("add a person: give them as person")
	}
	return s.AddUser(*o.Person)
}

func (s *Sim) newGroup(o order) error {
	if o.Group == nil {
		return fmt.Errorf("set a group: give it as group")
	}
	s.SetGroup(*o.Group)
	return nil
}

func (s *Sim) newFault(o order) error {
	if o.Rule == nil {
		return fmt.Errorf("add a fault: give it as rule")
	}
	s.Fault(*o.Rule)
	return nil
}

func (s *Sim) advance(o order) error {
	c, ok := s.clock.(interface{ Advance(time.Duration) })
	if !ok {
		return fmt.Errorf("advance the clock: it is the machine's and runs by itself")
	}
	c.Advance(time.Duration(o.Seconds * float64(time.Second)))
	s.tell()
	return nil
}

func (s *Sim) setSpeed(o order) error {
	c, ok := s.clock.(*ScaledClock)
	switch {
	case !ok:
		return fmt.Errorf("change the speed of the clock: only a scaled clock has one")
	case o.Speed < 0 || o.Speed > 10_000:
		return fmt.Errorf("change the speed of the clock: want 0 to 10000, not %v", o.Speed)
	}
	c.SetSpeed(o.Speed)
	s.tell()
	return nil
}

// Revoke makes the bot's or the app's token ("bot", "app") invalid, or valid
// again.
func (s *Sim) Revoke(which string, revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := s.opts.BotToken
	if which == "app" {
		token = s.opts.AppToken
	}
	if revoked && which != "app" {
		s.emit("tokens_revoked", "", obj{"tokens": obj{"oauth": []string{}, "bot": []string{s.app.UserID}}})
	}
	s.revoked[token] = revoked
	s.bump()
}
