package slacksim

import (
	"io"
	"log/slog"
	"time"
)

// LimitMode says how strictly rate limits are kept.
type LimitMode string

// The modes of rate limiting.
const (
	LimitsOff LimitMode = "off"
	// LimitsRealistic keeps the tiers per method and one message per second
	// and channel with a burst of three. It is the default.
	LimitsRealistic LimitMode = "realistic"
	// LimitsStrict allows no burst when posting, limits response URLs to one
	// use per second, and caps posts over the whole workspace.
	LimitsStrict LimitMode = "strict"
)

// Routing says which of several sockets an envelope goes to.
type Routing string

// The routings. Slack promises none of them.
const (
	RouteRandom     Routing = "random"
	RouteRoundRobin Routing = "round-robin"
	RouteSticky     Routing = "sticky" // the oldest
	RouteNewest     Routing = "newest"
)

// DemoStep is one step of a scripted demo: what is said to those who watch, as
// whom the page looks and where, and an order of the control API.
type DemoStep struct {
	Say     string         `json:"say"`
	As      string         `json:"as,omitempty"`      // whose screen is shown
	Channel string         `json:"channel,omitempty"` // which channel is open
	Order   string         `json:"order,omitempty"`   // a route under /_sim/
	Body    map[string]any `json:"body,omitempty"`
	// Wait is a condition of GET /_sim/wait that ends the step.
	Wait map[string]string `json:"wait,omitempty"`
}

// Options tune the simulator. The zero value behaves as Slack does.
type Options struct {
	Clock Clock // default: the machine's
	Seed  int64 // of the random numbers behind ids and routing
	Log   *slog.Logger

	BotToken string // default "xoxb-sim-…"
	AppToken string // default "xapp-sim-…"

	PingEvery   time.Duration // server pings; default 10 s
	AckWindow   time.Duration // default 3 s
	TriggerLife time.Duration // default: AckWindow
	// SocketLife ends each socket after that time with refresh_requested, as
	// Slack does every few hours; 0 lets them live. A short one makes a storm.
	SocketLife time.Duration
	// RetryAfter are the pauses before an unacknowledged event is sent again;
	// default 0, 1 min, 5 min.
	RetryAfter []time.Duration
	// ShareDelay is how long a completed upload takes to appear in the
	// channel; default 20 ms.
	ShareDelay time.Duration

	Limits       LimitMode
	Routing      Routing
	MaxTotalText int // characters over all blocks of a message; default 12,000

	// RefuseCrossSocketAck ignores an acknowledgement that comes on another
	// socket than its envelope went out on. Slack does not say whether it does.
	RefuseCrossSocketAck bool
	// SameEnvelopeOnRetry keeps an event's envelope ID when it is sent again.
	SameEnvelopeOnRetry bool
	// RefuseBlockMismatch refuses to replace rich text blocks by others.
	RefuseBlockMismatch bool
	// GuideTriggerErrors uses trigger_expired and trigger_exchanged, as
	// Slack's guide does, in place of the method reference's names.
	GuideTriggerErrors bool

	// FreePlan refuses everything about user groups, which only paid plans have.
	FreePlan bool
	// ShortPages makes every page of a list shorter than the limit that was
	// asked for, which Slack allows itself.
	ShortPages bool
	// EditWindow is for how long messages can be changed, where the workspace
	// sets one; 0 sets none.
	EditWindow time.Duration
	// OrgInstall makes the app one that an Enterprise organisation installed: in
	// what people do, team is null and is_enterprise_install true.
	OrgInstall bool
	// CommandInstallForm is how slash commands tell is_enterprise_install: as
	// Slack's libraries met it, the text "false" (the default), a "bool", "null"
	// or "absent".
	CommandInstallForm string

	// Transcript gets a line of JSON (Line) for everything that happens. It is
	// written under the workspace's lock, so it should be a file or a buffer.
	Transcript io.Writer

	// Demo is what the page's demo does, a step at a time.
	Demo []DemoStep

	// AllowBroadcast keeps <!channel> and its kin from being a finding.
	AllowBroadcast bool
	// Mentions, when not nil, are the only users and user groups, by id, that
	// the app may mention; others are a finding.
	Mentions []string
	// Canaries are secrets that must not appear in anything the app sends.
	Canaries []string
	// Tainted are strings from outside, such as <!channel> in an application's
	// name, that must not appear unescaped in what the app sends.
	Tainted []string
}

func (o *Options) fill() {
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.BotToken == "" {
		o.BotToken = "xoxb-sim-bot-token"
	}
	if o.AppToken == "" {
		o.AppToken = "xapp-sim-app-token"
	}
	duration(&o.PingEvery, 10*time.Second)
	duration(&o.AckWindow, 3*time.Second)
	duration(&o.TriggerLife, o.AckWindow)
	duration(&o.ShareDelay, 20*time.Millisecond)
	if o.RetryAfter == nil {
		o.RetryAfter = []time.Duration{0, time.Minute, 5 * time.Minute}
	}
	if o.Limits == "" {
		o.Limits = LimitsRealistic
	}
	if o.Routing == "" {
		o.Routing = RouteRandom
	}
	if o.MaxTotalText == 0 {
		o.MaxTotalText = 12_000
	}
}

func duration(field *time.Duration, value time.Duration) {
	if *field == 0 {
		*field = value
	}
}
