package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/runbook/cluster"
	"reconcilebot/state"
)

// factsKept is for how long audited writes are remembered: long enough for a
// change that is noticed weeks later.
const factsKept = 30 * 24 * time.Hour

// writes remembers what the audit log tells, under each of a write's keys.
type writes struct{ db *state.DB }

// Learn stores writes.
func (w writes) Learn(_ context.Context, list []cluster.Write) error {
	var facts []state.Fact
	for _, one := range list {
		data, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("remember audit event %s: %w", one.AuditID, err)
		}
		for _, key := range one.Keys() {
			facts = append(facts, state.Fact{Object: key, ID: one.AuditID, At: one.At, Data: data})
		}
	}
	return w.db.Learn(facts)
}

// Of lists the writes under a key, oldest first.
func (w writes) Of(_ context.Context, key string) ([]cluster.Write, error) {
	facts, err := w.db.Facts(key)
	if err != nil {
		return nil, err
	}
	list := make([]cluster.Write, len(facts))
	for i, fact := range facts {
		if err := json.Unmarshal(fact.Data, &list[i]); err != nil {
			return nil, fmt.Errorf("recall audit event %s: %w", fact.ID, err)
		}
	}
	return list, nil
}

// forget drops what is too old, now and then, until ctx ends.
func (w writes) forget(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if _, err := w.db.ForgetFacts(time.Now().Add(-factsKept)); err != nil {
			log.Error("old audit events were not forgotten", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// listenForAudit opens the listener for audit events.
func listenForAudit(a config.Audit, w ears, log *slog.Logger) (*listener, error) {
	handler := cluster.AuditHandler(cluster.AuditConfig{Token: a.Token.Value, Sink: w.Learn, Log: log})
	l, err := listen("audit events", a.Listen, handler, log)
	if err != nil || a.TLSCertFile == "" {
		return l, err
	}
	l.tlsCert, l.tlsKey = a.TLSCertFile, a.TLSKeyFile
	l.server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if a.ClientCAFile != "" {
		raw, err := os.ReadFile(a.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("read audit.clientCAFile: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("audit.clientCAFile: %s holds no certificate in PEM form", a.ClientCAFile)
		}
		l.server.TLSConfig.ClientCAs, l.server.TLSConfig.ClientAuth = pool, tls.RequireAndVerifyClientCert
	}
	return l, nil
}
