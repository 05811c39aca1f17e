package doctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/websocket"
)

// connections says how many connections Slack counts for the app. Each gets a
// share of what people do, so one of somebody else's takes commands away. Slack
// tells it when a connection is opened and at no other time, so one is opened,
// until Slack has said hello. Should Slack send something on it in that moment,
// nobody acknowledges it: whoever did it is told that it failed.
// https://docs.slack.dev/apis/events-api/using-socket-mode
func (s Slack) connections(ctx context.Context) []Finding {
	const check = "connections"
	all, err := s.asHelloSays(ctx)
	if err != nil {
		return []Finding{slackArea.warn(check, "look at the app token first, and whether this machine reaches Slack's sockets", "Slack does not say how many are open: %s", reason(ctx, err))}
	}
	others := all - 1 // without this one
	own, err := s.ofBot(ctx)
	switch {
	case err != nil && !errors.Is(err, errNoBot):
		return []Finding{slackArea.warn(check, "look at the address that `listen` names", "Slack counts %d of this app besides the doctor's own; the bot here does not say how many are its: %s", others, reason(ctx, err))}
	case err != nil && others > 0:
		return []Finding{slackArea.warn(check, elsewhere, "Slack counts %d of this app besides the doctor's own, though no bot answers here", others)}
	case err != nil:
		return []Finding{slackArea.ok(check, "Slack counts none of this app besides the doctor's own")}
	case others > own:
		return []Finding{slackArea.warn(check, elsewhere, "Slack counts %d of this app besides the doctor's own, and the bot here holds %d of them", others, own)}
	}
	return []Finding{slackArea.ok(check, "Slack counts %d of this app, all of the bot here", others)}
}

const elsewhere = "find the other process that has this app-level token, and stop it; if there is none of yours, renew the token under Basic Information. Just after a restart, look again in a minute"

// errNoBot means that no bot answers where one would.
var errNoBot = errors.New("no bot answers")

// ofBot reads from the numbers of a bot that runs here how many it holds.
func (s Slack) ofBot(ctx context.Context) (own int, err error) {
	if s.Listen == "" {
		return 0, errNoBot
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return 0, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.HTTP.Do(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return 0, errNoBot
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(resp.Body, maxAnswer))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "reconcilebot_slack_sockets "); ok {
			return strconv.Atoi(value)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("%s answers %s without its number of sockets", s.Listen, resp.Status)
}

// asHelloSays reads it from the first word on a connection, which counts
// itself.
func (s Slack) asHelloSays(ctx context.Context) (int, error) {
	a, _, err := s.call(ctx, s.AppToken, "apps.connections.open", nil)
	if err != nil {
		return 0, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment}
	conn, resp, err := dialer.DialContext(ctx, a.URL, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // the handshake's body says nothing we use
	}
	if err != nil {
		return 0, errors.New("the socket that it offers can't be opened") // the error may hold the ticket
	}
	defer conn.Close()
	conn.SetReadLimit(maxAnswer)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_, raw, err := conn.ReadMessage()
	if err != nil {
		return 0, errors.New("the socket was closed before a word")
	}
	var hello struct {
		Type        string `json:"type"`
		Reason      string `json:"reason"`
		Connections int    `json:"num_connections"`
	}
	if err := json.Unmarshal(raw, &hello); err != nil || hello.Type != "hello" {
		return 0, fmt.Errorf("the socket's first word is no hello, but %.40q %.40q", hello.Type, hello.Reason)
	}
	return hello.Connections, nil
}
