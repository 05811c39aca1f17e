package doctor

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Audit is the listener for audit events.
type Audit struct {
	Listen, CertFile, KeyFile string
}

// soon is when an ending certificate should be renewed.
const soon = 14 * 24 * time.Hour

// Checks lists what to look at.
func (a Audit) Checks() []Check {
	if a.Listen == "" {
		return []Check{func(context.Context) []Finding {
			return []Finding{area("audit").warn("listener", "add audit to the config and point the API server's audit webhook to it", "is off, so the bot can't name who made a change; then two people must approve")}
		}}
	}
	return []Check{a.address, a.certificate}
}

func (a Audit) address(ctx context.Context) []Finding {
	const area area = "audit"
	socket, err := net.Listen("tcp", a.Listen)
	if err == nil {
		if err = socket.Close(); err == nil {
			return []Finding{area.ok("listener", "%s is free", a.Listen)}
		}
	}
	conn, dialed := new(net.Dialer).DialContext(ctx, "tcp", a.Listen)
	if dialed != nil {
		return []Finding{area.fail("listener", "choose another address", "%v, and nobody answers there: %v", err, dialed)}
	}
	if err := conn.Close(); err != nil {
		return []Finding{area.fail("listener", "look at the network", "%v", err)}
	}
	return []Finding{area.ok("listener", "%s answers; a bot is running", a.Listen)}
}

func (a Audit) certificate(context.Context) []Finding {
	const area area = "audit"
	if a.CertFile == "" {
		return []Finding{area.ok("certificate", "none, and %s is this machine's own", a.Listen)}
	}
	pair, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
	if err != nil {
		return []Finding{area.fail("certificate", "give a certificate and its key in PEM form", "%v", err)}
	}
	switch left := time.Until(pair.Leaf.NotAfter); {
	case left <= 0:
		return []Finding{area.fail("certificate", "renew it", "ended %s", pair.Leaf.NotAfter.UTC().Format(time.DateOnly))}
	case left < soon:
		return []Finding{area.warn("certificate", "renew it", "ends %s", pair.Leaf.NotAfter.UTC().Format(time.DateOnly))}
	}
	return []Finding{area.ok("certificate", "valid until %s", pair.Leaf.NotAfter.UTC().Format(time.DateOnly))}
}
