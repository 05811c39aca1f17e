package forge

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// maxKept bounds the answers that are remembered; the ones of ended pull
// requests make room for others.
const maxKept = 2000

// memory asks again with the ETag of the last answer, and gives that answer
// when the host says that nothing changed. It is safe for concurrent use.
type memory struct {
	base http.RoundTripper

	mu    sync.Mutex
	kept  map[string]answer
	order []string
}

type answer struct {
	etag   string
	header http.Header
	body   []byte
}

// unchanged marks an answer that was not modified.
const unchanged = "X-Reconcilebot-Unchanged"

func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return m.base.RoundTrip(r)
	}
	key := r.URL.String() + " " + r.Header.Get("Accept")
	m.mu.Lock()
	have, known := m.kept[key]
	m.mu.Unlock()
	if known {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", have.etag)
	}
	resp, err := m.base.RoundTrip(r)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotModified && known:
		return again(r, resp, have)
	case resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "":
		return m.keep(key, resp)
	}
	return resp, nil
}

func again(r *http.Request, resp *http.Response, have answer) (*http.Response, error) {
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	header := have.header.Clone()
	for name := range resp.Header {
		header.Set(name, resp.Header.Get(name))
	}
	header.Set(unchanged, "1")
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: resp.Proto, ProtoMajor: resp.ProtoMajor, ProtoMinor: resp.ProtoMinor,
		Header: header, Body: io.NopCloser(bytes.NewReader(have.body)), ContentLength: int64(len(have.body)), Request: r,
	}, nil
}

func (m *memory) keep(key string, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.kept[key]; !known {
		m.order = append(m.order, key)
	}
	m.kept[key] = answer{etag: resp.Header.Get("ETag"), header: resp.Header.Clone(), body: body}
	for len(m.order) > maxKept {
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
	return resp, nil
}
