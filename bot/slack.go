package bot

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// SlackConfig says how to reach Slack.
type SlackConfig struct {
	// API is the base of the Web API; https://slack.com/api/ if empty.
	API string
	// BotToken (xoxb-) and AppToken (xapp-) are read for every call, so that a
	// token can be renewed while the bot runs.
	BotToken, AppToken func() (string, error)
	// Transport carries the calls; one like http.DefaultTransport if nil.
	Transport http.RoundTripper
	// Timeout bounds one call; 10 seconds if zero.
	Timeout time.Duration
}

// Slack is the Web API of one workspace. It is safe for concurrent use.
type Slack struct {
	api      *url.URL
	bot, app func() (string, error)
	http     *http.Client

	mu     sync.Mutex // guards what follows
	tokens [2]string
	client *slack.Client
}

// NewSlack makes a connection to the Web API without calling it.
func NewSlack(c SlackConfig) (*Slack, error) {
	if c.API == "" {
		c.API = slack.APIURL
	}
	base, err := url.Parse(c.API)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("slack API base %q is not a URL such as https://slack.com/api/", c.API)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	if c.BotToken == nil || c.AppToken == nil {
		return nil, fmt.Errorf("slack: a bot token (xoxb-) and an app-level token (xapp-) are both needed")
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 16
		c.Transport = t
	}
	return &Slack{api: base, bot: c.BotToken, app: c.AppToken, http: client(c.Transport, c.Timeout)}, nil
}

// use gives a client with the tokens as they are now.
func (s *Slack) use() (*slack.Client, error) {
	bot, err := s.token(s.bot, "bot token", "xoxb-")
	if err != nil {
		return nil, err
	}
	app, err := s.token(s.app, "app-level token", "xapp-")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil || s.tokens != [2]string{bot, app} {
		s.tokens = [2]string{bot, app}
		// No option for debugging: it would log what people write, and with
		// it shorten every connection to six minutes.
		s.client = slack.New(bot, slack.OptionAppLevelToken(app), slack.OptionHTTPClient(s.http), slack.OptionAPIURL(s.api.String()))
	}
	return s.client, nil
}

// token reads a token and refuses one of another kind: with the two swapped
// Slack's answers do not say so.
func (s *Slack) token(read func() (string, error), name, prefix string) (string, error) {
	t, err := read()
	if err != nil {
		return "", &setupError{Say: fmt.Sprintf("the Slack %s can't be read", name), Err: err}
	}
	if !strings.HasPrefix(t, prefix) {
		return "", &setupError{Say: fmt.Sprintf("the Slack %s must begin with %s; is it another token?", name, prefix)}
	}
	return t, nil
}
