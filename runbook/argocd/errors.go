package argocd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// NotFound says that there is no such Application, or that our account may
// not see it: Argo CD does not tell these apart.
type NotFound struct{ What string }

func (e *NotFound) Error() string {
	return e.What + ": Argo CD does not know it, or this account may not see it"
}

// Denied says that Argo CD refused our account.
type Denied struct {
	What string
	// Token is true when the token itself was refused, rather than the right.
	Token   bool
	Message string
}

func (e *Denied) Error() string {
	if e.Token {
		return e.What + ": Argo CD refuses the token: " + e.Message + "; make a new one for this account and put it in place of the old"
	}
	return e.What + ": Argo CD denies it: " + e.Message
}

// Unavailable says that Argo CD, or what stands behind it, can't be reached
// now. Trying again later is right.
type Unavailable struct {
	What string
	Err  error
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("%s: Argo CD can't be reached: %v", e.What, e.Err)
}

// Unwrap gives the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Busy says that another operation runs on the Application. Trying again
// when it has ended is right.
type Busy struct{ What string }

func (e *Busy) Error() string { return e.What + ": another operation is in progress" }

// Refused says that Argo CD understood and won't, or tried and could not:
// trying again as is won't help.
type Refused struct {
	What    string
	Message string
}

func (e *Refused) Error() string { return e.What + ": Argo CD answers: " + e.Message }

// The gRPC codes that an answer carries (google.golang.org/grpc/codes).
const (
	codeDeadlineExceeded = 4
	codeNotFound         = 5
	codePermissionDenied = 7
	codeUnavailable      = 14
	codeUnauthenticated  = 16
)

// busyText is in SetAppOperation's error, "another operation is already in
// progress", whatever code carries it.
const busyText = "another operation is already in progress"

// behind are the texts by which Argo CD's internal errors show that something
// behind it is down. Its server wraps those of the repo server, of Redis and
// of the cluster into codes Unknown and Internal, so that only the text tells.
var behind = [...]string{
	"connection refused",         // dial tcp 10.0.0.1:8081: connect: connection refused
	"connection reset",           // read tcp …: connection reset by peer
	"no such host",               // dial tcp: lookup argocd-repo-server: no such host
	"i/o timeout",                // dial tcp 10.0.0.1:6379: i/o timeout
	"code = Unavailable",         // rpc error: code = Unavailable desc = …
	"context deadline exceeded",  // …
	"refresh deadline exceeded",  // application refresh deadline exceeded
	"transport is closing",       // rpc error: … transport is closing
	"error reading from server",  // … error reading from server: EOF
	"the server is currently un", // the server is currently unable to handle the request
}

// answerError makes an error of an answer that is not 200. Its body is
// grpc-gateway's {"error","code","message"}.
func answerError(what string, status int, raw []byte) error {
	var body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Error   string `json:"error"`
	}
	fromArgo := json.Unmarshal(raw, &body) == nil && (body.Message != "" || body.Error != "")
	if body.Message == "" {
		body.Message = body.Error
	}
	if !fromArgo {
		body.Message = http.StatusText(status)
	}
	body.Message = cut(body.Message)
	switch {
	case strings.Contains(body.Message, busyText):
		return &Busy{what}
	case status == http.StatusUnauthorized || body.Code == codeUnauthenticated:
		return &Denied{What: what, Token: true, Message: body.Message}
	case status == http.StatusForbidden || body.Code == codePermissionDenied:
		return &Denied{What: what, Message: body.Message}
	case fromArgo && (status == http.StatusNotFound || body.Code == codeNotFound):
		return &NotFound{what}
	case down(status, body.Code, body.Message, fromArgo):
		return &Unavailable{What: what, Err: fmt.Errorf("HTTP %d: %s", status, body.Message)}
	case !fromArgo:
		return &Refused{What: what, Message: fmt.Sprintf("HTTP %d %s, which is not Argo CD's (is the address right?)", status, body.Message)}
	}
	return &Refused{What: what, Message: body.Message}
}

func down(status, code int, message string, fromArgo bool) bool {
	if code == codeUnavailable || code == codeDeadlineExceeded || status == http.StatusTooManyRequests {
		return true
	}
	if status < http.StatusInternalServerError {
		return false
	}
	if !fromArgo {
		return true
	}
	for _, text := range behind {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// cut bounds a foreign text. Rendering errors quote whole manifests.
func cut(s string) string {
	const most = 2000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
