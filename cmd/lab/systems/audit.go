package systems

import (
	"fmt"
	"os"
	"path/filepath"
)

// Audit says where the API server sends its audit events. The zero value turns
// auditing off.
type Audit struct {
	URL   string // https: over plain HTTP the API server sends no token
	Token string // the bearer token that the receiver expects
}

// auditLog is the file in which the API server keeps the events.
const auditLog = "audit.log"

// auditPolicy keeps what people and controllers wrote, and leaves out the reads
// and the cluster's own housekeeping, which are most of the traffic.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler", "system:kwok", "kubernetes-admin"]
- level: None
  resources:
  - group: ""
    resources: [events, secrets]
  - group: events.k8s.io
  - group: coordination.k8s.io
  - group: authentication.k8s.io
  - group: authorization.k8s.io
- level: Request
  resources:
  - group: ""
  - group: apps
  - group: batch
  - group: autoscaling
  - group: networking.k8s.io
  - group: policy
- level: Metadata
`

func (a Audit) flags(dir string) []string {
	if a.URL == "" {
		return nil
	}
	return []string{
		"--audit-policy-file", filepath.Join(dir, "audit-policy.yaml"),
		// The page of an event reads it.
		"--audit-log-path", filepath.Join(dir, auditLog),
		"--audit-webhook-config-file", filepath.Join(dir, "audit-webhook.yaml"),
		// Half a minute, the default, is longer than many a manual change lives.
		"--audit-webhook-batch-max-wait", "100ms",
		// The receiver may be away for a while: a scenario kills it.
		"--audit-webhook-initial-backoff", "1s",
	}
}

func (a Audit) write(dir, ca string) error {
	if a.URL == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("write the audit policy: %w", err)
	}
	webhook := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: receiver
  cluster: {server: %q, certificate-authority: %q}
users:
- name: apiserver
  user: {token: %q}
contexts:
- name: audit
  context: {cluster: receiver, user: apiserver}
current-context: audit
`, a.URL, ca, a.Token)
	if err := os.WriteFile(filepath.Join(dir, "audit-webhook.yaml"), []byte(webhook), 0o600); err != nil {
		return fmt.Errorf("write the audit webhook: %w", err)
	}
	return nil
}
