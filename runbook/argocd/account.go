package argocd

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Version is the server's, such as v2.14.21+abc. It needs no token.
func (c *Client) Version(ctx context.Context) (string, error) {
	var answer struct{ Version string }
	err := c.do(ctx, call{what: "ask Argo CD's version", method: "GET", path: []string{"api", "version"}}, &answer)
	if err == nil && answer.Version == "" {
		err = &Unavailable{What: "ask Argo CD's version", Err: errors.New("the answer has no version (is the address right?)")}
	}
	return answer.Version, err
}

// Whoami is the name of our account. A token that Argo CD does not take
// answers *Denied.
func (c *Client) Whoami(ctx context.Context) (string, error) {
	var answer struct {
		LoggedIn bool   `json:"loggedIn"`
		Username string `json:"username"`
	}
	what := "ask Argo CD who we are"
	err := c.do(ctx, call{what: what, method: "GET", path: []string{"api", "v1", "session", "userinfo"}}, &answer)
	if err == nil && !answer.LoggedIn {
		// This one call answers anybody, and says so.
		err = &Denied{What: what, Token: true, Message: "not logged in"}
	}
	return answer.Username, err
}

// CanI asks whether our account has a right, such as applications, sync,
// team-a/*.
func (c *Client) CanI(ctx context.Context, resource, action, subresource string) (bool, error) {
	var answer struct {
		Value string `json:"value"`
	}
	path := append([]string{"api", "v1", "account", "can-i", resource, action}, strings.Split(subresource, "/")...)
	err := c.do(ctx, call{what: "ask Argo CD for the right to " + action + " " + resource, method: "GET", path: path}, &answer)
	return answer.Value == "yes", err
}

// Event is an entry of Argo CD's own trail about an Application.
type Event struct {
	// Reason is OperationStarted, ResourceUpdated, ResourceActionRan, …
	Reason string
	// Message begins with User where a person acted; User is "" where Argo CD
	// acted by itself.
	Message string
	User    string
	At      time.Time
}

// Events lists Argo CD's trail about an Application, oldest first. It is
// needed for who changed an object in Argo CD's UI: the cluster's audit log
// has argocd-server there. Kubernetes forgets events after an hour.
func (c *Client) Events(ctx context.Context, ref Ref) ([]Event, error) {
	if err := c.known(ctx, ref); err != nil {
		return nil, err
	}
	var answer struct {
		Items []struct {
			Reason         string    `json:"reason"`
			Message        string    `json:"message"`
			LastTimestamp  time.Time `json:"lastTimestamp"`
			FirstTimestamp time.Time `json:"firstTimestamp"`
			EventTime      time.Time `json:"eventTime"`
		} `json:"items"`
	}
	err := c.do(ctx, call{what: "list the events of Application " + ref.String(), method: "GET", path: appPath(ref, "events"), query: c.about(ref)}, &answer)
	if err != nil {
		return nil, err
	}
	var list []Event
	for _, item := range answer.Items {
		e := Event{Reason: item.Reason, Message: item.Message, User: actor(item.Message)}
		for _, at := range []time.Time{item.LastTimestamp, item.EventTime, item.FirstTimestamp} {
			if e.At.IsZero() {
				e.At = at.UTC()
			}
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b Event) int { return a.At.Compare(b.At) })
	return list, nil
}

// acts are what the server's handlers report after a user's name, in
// logAppEvent's callers. What the controller reports begins otherwise, as in
// "Updated sync status: Synced -> OutOfSync" and "Initiated automated sync".
var acts = regexp.MustCompile(`^(\S+) (patched resource|deleted resource|deleted application|created application|updated application|ran action|initiated|terminated running) ?`)

// actor finds the user in an event's message; "" if none acted.
func actor(message string) string {
	found := acts.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return found[1]
}
