package systems

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Ports picks n free ports of the loopback interface. All are held until the
// last is found, so that no two are the same; between this call and the start
// of whoever gets one, another program could take it, which then is reported by
// the one that cannot listen.
func Ports(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// await asks again and again until ready says yes. Programs of others announce
// their readiness in no other way.
func await(ctx context.Context, what string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, fmt.Errorf("%s was not ready within two minutes", what))
	defer cancel()
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	var last error
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		// An answer that was cut off by the end of the wait says nothing.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last answer: %v)", what, context.Cause(ctx), last)
		case <-again.C:
		}
	}
}

// answers tells whether a URL answers with 200.
func answers(client *http.Client, url, token string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", url, resp.Status)
		}
		return nil
	}
}

// listens tells whether something accepts connections there.
func listens(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// Answers returns when a URL answers with 200.
func Answers(ctx context.Context, what, url string) error {
	return await(ctx, what, answers(http.DefaultClient, url, ""))
}
