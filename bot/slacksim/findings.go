package slacksim

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Finding is something the app did that it should not do, though Slack may
// have let it pass.
type Finding struct {
	At     time.Time `json:"at"`
	Rule   string    `json:"rule"`
	Detail string    `json:"detail"`
}

// The rules that findings name.
const (
	RuleUnacked       = "envelope-not-acknowledged"
	RuleLateAck       = "acknowledged-late"
	RuleDoubleAck     = "acknowledged-twice"
	RuleEmptyAck      = "acknowledged-empty-id"
	RuleUnknownAck    = "acknowledged-unknown-id"
	RuleAckIgnored    = "acknowledgement-ignored" // too large, fragmented, binary
	RuleAckPayload    = "acknowledgement-payload"
	RuleResponseURL   = "response-url-misused"
	RuleTrigger       = "trigger-misused"
	RuleNoText        = "message-without-text"
	RuleBroadcast     = "broadcast-mention"
	RuleMention       = "mention-not-allowed"
	RuleTainted       = "outside-text-not-escaped"
	RuleCanary        = "secret-sent"
	RulePostRate      = "posts-too-fast"
	RuleRetryAfter    = "retry-after-ignored"
	RuleOpenRate      = "connections-opened-too-often"
	RuleScope         = "scope-not-in-manifest"
	RuleUnknownMethod = "unknown-method"
	RuleUnknownArg    = "unknown-argument"
	RuleSockets       = "too-many-sockets"
	RuleTS            = "ts-not-given-out"
	RuleExtShared     = "posted-in-shared-channel"
)

// Findings are what was found so far, in order. Equal ones appear once.
func (s *Sim) Findings() []Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.findings)
}

// Report adds a finding of a test's own, so that one list tells everything.
func (s *Sim) Report(rule, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(rule, "%s", detail)
}

func (s *Sim) find(rule, format string, args ...any) {
	detail := fmt.Sprintf(format, args...)
	if key := rule + "\x00" + detail; s.found[key] {
		return
	} else {
		s.found[key] = true
	}
	found := Finding{s.clock.Now(), rule, detail}
	s.findings = append(s.findings, found)
	s.record(Line{Kind: "finding", Finding: &found})
	s.log.Warn("finding", "rule", rule, "detail", detail)
	s.bump()
}

// tester is the part of *testing.T that ExpectNoFindings needs.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

// ExpectNoFindings fails the test with every finding.
func (s *Sim) ExpectNoFindings(t tester) {
	t.Helper()
	for _, f := range s.Findings() {
		t.Errorf("finding %s: %s", f.Rule, f.Detail)
	}
}

// inspect looks at everything the app sends, wherever it sends it.
func (s *Sim) inspect(where, sent string) {
	for _, secret := range s.opts.Canaries {
		if secret != "" && strings.Contains(sent, secret) {
			s.find(RuleCanary, "%s contains a secret that must not leave", where)
		}
	}
	for _, t := range s.opts.Tainted {
		if strings.ContainsAny(t, "<>&") && strings.Contains(sent, t) {
			s.find(RuleTainted, "%s contains %q as it came", where, t)
		}
	}
}

// inspectText looks at mrkdwn, where a broadcast notifies everyone.
func (s *Sim) inspectText(where, text string) {
	if s.opts.AllowBroadcast {
		return
	}
	for _, mention := range []string{"<!channel", "<!here", "<!everyone"} {
		if strings.Contains(text, mention) {
			s.find(RuleBroadcast, "%s notifies everyone with %s>", where, mention)
		}
	}
	if s.opts.Mentions == nil {
		return
	}
	for _, m := range mentions.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(s.opts.Mentions, m[1]) {
			s.find(RuleMention, "%s mentions %s, who is not to be mentioned", where, m[1])
		}
	}
}

// mentions are those of people and user groups in mrkdwn,
// https://docs.slack.dev/messaging/formatting-message-text.
var mentions = regexp.MustCompile(`<(?:@|!subteam\^)([A-Z0-9]+)[|>]`)

// LogWriter looks at what the app logs, as at everything it sends, and passes
// nothing on: a secret in a log is a finding. A secret that is cut between two
// writes is seen too.
func (s *Sim) LogWriter() io.Writer { return &logWriter{sim: s} }

type logWriter struct {
	sim  *Sim
	rest string // the end of what was written before
}

// Write never fails.
func (w *logWriter) Write(p []byte) (int, error) {
	w.sim.mu.Lock()
	defer w.sim.mu.Unlock()
	text := w.rest + string(p)
	for _, secret := range append([]string{w.sim.opts.BotToken, w.sim.opts.AppToken}, w.sim.opts.Canaries...) {
		if secret != "" && strings.Contains(text, secret) {
			w.sim.find(RuleCanary, "the log contains a secret that must not leave")
		}
	}
	w.rest = text[max(0, len(text)-maxSecret):]
	return len(p), nil
}

// maxSecret is how long a secret may be to be found across two writes.
const maxSecret = 1024

// ExpectSettled fails the test when a message still offers something to press
// that is no link: a plan that was decided must not look as if it were not.
func (s *Sim) ExpectSettled(t tester, channel, ts string) {
	t.Helper()
	versions := s.Versions(channel, ts)
	if len(versions) == 0 {
		t.Errorf("there is no message %s in %s", ts, channel)
		return
	}
	for _, b := range versions[len(versions)-1].Buttons() {
		if b.URL == "" {
			t.Errorf("message %s in %s still offers %q", ts, channel, b.Text)
		}
	}
}

// inspectContent looks at a message or view before it is shown.
func (s *Sim) inspectContent(where string, text string, blocks []Block) {
	s.inspect(where, text)
	s.inspectText(where, text)
	for _, b := range blocks {
		// JSON escapes < and >, so the decoded texts are looked at.
		for _, t := range deepStrings(decode(b.Raw)) {
			s.inspect(where, t)
		}
		for _, t := range mrkdwnTexts(decode(b.Raw)) {
			s.inspectText(where, t)
		}
		for _, e := range richMentions(decode(b.Raw)) {
			s.inspectText(where, e)
		}
	}
}

func deepStrings(v any) []string {
	var out []string
	walk(v, func(o obj) {
		for _, e := range o {
			if t, ok := e.(string); ok {
				out = append(out, t)
			}
		}
	})
	return out
}

func mrkdwnTexts(v any) []string {
	var out []string
	walk(v, func(o obj) {
		if k := str(o["type"]); k == "mrkdwn" || k == "markdown" {
			out = append(out, str(o["text"]))
		}
	})
	return out
}

func richMentions(v any) []string {
	var out []string
	walk(v, func(o obj) {
		switch o["type"] {
		case "broadcast":
			out = append(out, "<!"+str(o["range"])+">")
		case "user":
			out = append(out, "<@"+str(o["user_id"])+">")
		case "usergroup":
			out = append(out, "<!subteam^"+str(o["usergroup_id"])+">")
		}
	})
	return out
}

// walk visits every object within v.
func walk(v any, visit func(obj)) {
	switch v := v.(type) {
	case obj:
		visit(v)
		for _, e := range v {
			walk(e, visit)
		}
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	}
}
