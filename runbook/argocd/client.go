// Package argocd talks to one Argo CD API server over its REST interface.
//
// Of an Application's spec it must never write anything but
// syncPolicy.automated; else it reads, refreshes and asks for syncs. It must
// never put a token into an error, and never wait without a deadline.
//
// Why REST and not Argo CD's own Go client: that client ends the process on
// some transport errors (log.Fatal below NewVersionClientOrDie), needs a
// writable folder for its grpc-web socket, and loses its retries. One kept
// HTTP connection also answers in a fraction of the time. Argo CD's own types
// are used to decode what every supported server writes alike; what newer
// servers have added to (the sync policy) is read from the raw JSON, because
// the older type drops what it doesn't know.
package argocd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// callTimeout bounds a call whose context has no deadline: a refresh of an
	// Application that is told to skip reconciliation never returns.
	callTimeout = 60 * time.Second
	// maxAnswer bounds an answer. Argo CD's own client takes 200 MiB.
	maxAnswer = 200 << 20
)

// Ref names an Application. Namespace "" is the control plane's.
type Ref struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is namespace/name, or the name alone.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Config says where Argo CD is and who we are there.
type Config struct {
	// Server is http(s)://host[:port][/root].
	Server string
	// UI is the address that people use, if it is another one.
	UI string
	// Token is asked before every call, so that it can be rotated.
	Token func() (string, error)
	// HTTPClient carries the calls; nil means one of our own, which honours
	// the proxy environment.
	HTTPClient *http.Client
	// Wrap goes round the client's transport, if it is not nil.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Namespace is the control plane's; "" means argocd.
	Namespace string
}

// Client is one Argo CD API server. It is safe for concurrent use.
type Client struct {
	root      *url.URL
	ui        string
	token     func() (string, error)
	http      *http.Client
	namespace string

	mu sync.Mutex
	// projects remembers each Application's project. Without it the server
	// answers "permission denied" for an Application that does not exist.
	projects map[Ref]string
}

// New checks the configuration. It does no I/O.
func New(c Config) (*Client, error) {
	root, err := url.Parse(c.Server)
	if err != nil || root.Host == "" || (root.Scheme != "http" && root.Scheme != "https") {
		return nil, fmt.Errorf("argocd server %q: want http://host[:port] or https://host[:port]", c.Server)
	}
	if root.User != nil || root.RawQuery != "" {
		return nil, fmt.Errorf("argocd server at %s: credentials and queries have no place in the address", root.Host)
	}
	if c.Token == nil {
		return nil, errors.New("argocd: no token source given")
	}
	client := c.HTTPClient
	if client == nil {
		client = &http.Client{Transport: transport()}
	}
	if c.Wrap != nil {
		client = wrapped(client, c.Wrap)
	}
	if c.Namespace == "" {
		c.Namespace = "argocd"
	}
	if c.UI == "" {
		c.UI = c.Server
	}
	root.Path = strings.TrimSuffix(root.Path, "/")
	return &Client{
		root: root, ui: strings.TrimSuffix(c.UI, "/"), token: c.Token, http: client,
		namespace: c.Namespace, projects: map[Ref]string{},
	}, nil
}

// wrapped is the same client with something round its transport.
func wrapped(client *http.Client, wrap func(http.RoundTripper) http.RoundTripper) *http.Client {
	copied := *client
	if copied.Transport == nil {
		copied.Transport = http.DefaultTransport
	}
	copied.Transport = wrap(copied.Transport)
	return &copied
}

// transport keeps enough connections for a survey of many targets at once.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.ResponseHeaderTimeout = callTimeout
	return t
}

// call is one request; what names it in errors.
type call struct {
	what   string
	method string
	path   []string
	query  url.Values
	body   any
}

// do makes a call and decodes its answer into out.
func (c *Client) do(ctx context.Context, in call, out any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("no answer within %s", callTimeout))
		defer cancel()
	}
	req, err := c.request(ctx, in)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, in, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.unreachable(ctx, in, err)
	}
	if len(raw) > maxAnswer {
		return fmt.Errorf("%s: the answer is larger than %d MiB", in.what, maxAnswer>>20)
	}
	if resp.StatusCode != http.StatusOK {
		return answerError(in.what, resp.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &Unavailable{What: in.what, Err: fmt.Errorf("the answer is not Argo CD's JSON (is the address right?): %w", err)}
	}
	return nil
}

func (c *Client) request(ctx context.Context, in call) (*http.Request, error) {
	var body io.Reader
	if in.body != nil {
		raw, err := json.Marshal(in.body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.what, err)
		}
		body = bytes.NewReader(raw)
	}
	to := *c.root
	escaped := make([]string, len(in.path))
	for i, segment := range in.path {
		escaped[i] = url.PathEscape(segment)
	}
	to.Path = c.root.Path + "/" + strings.Join(in.path, "/")
	to.RawPath = c.root.EscapedPath() + "/" + strings.Join(escaped, "/")
	to.RawQuery = in.query.Encode()
	req, err := http.NewRequestWithContext(ctx, in.method, to.String(), body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.what, err)
	}
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("%s: read Argo CD's token: %w", in.what, err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// The server refuses a POST without it, as its defence against forged
	// requests from browsers.
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// unreachable tells a caller that gave up from a server that can't be
// reached. A URL error repeats the address, which has no secret in it.
func (c *Client) unreachable(ctx context.Context, in call, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", in.what, context.Cause(ctx))
	}
	return &Unavailable{What: in.what, Err: err}
}

// about makes a call's query for an Application.
func (c *Client) about(ref Ref) url.Values {
	q := url.Values{"appNamespace": {c.at(ref)}}
	if project := c.project(ref); project != "" {
		q.Set("project", project)
	}
	return q
}

// at is the namespace an Application lives in.
func (c *Client) at(ref Ref) string {
	if ref.Namespace == "" {
		return c.namespace
	}
	return ref.Namespace
}

func (c *Client) project(ref Ref) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.projects[Ref{c.at(ref), ref.Name}]
}

func (c *Client) remember(ref Ref, project string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if project == "" {
		delete(c.projects, Ref{c.at(ref), ref.Name})
		return
	}
	c.projects[Ref{c.at(ref), ref.Name}] = project
}
