package card

import "reconcilebot/runbook/drift"

// touches are a timeline: a person by the audit log, a tool by its name, and
// Argo CD by itself.
func (s *sample) touches() []drift.Touch {
	return []drift.Touch{
		{At: s.at(2), Object: web(), Evidence: s.scaled().Evidence, What: []string{"spec.replicas = 6"}},
		{At: s.at(1), Object: web(), What: []string{"spec.paused"},
			Evidence: drift.Evidence{Kind: drift.ByManager, Tool: "k9s", Manager: "k9s", At: s.at(1), Note: "The audit log has no request that made this change, so nobody is named."}},
		{At: s.at(0), Object: web(), Automatic: true, Evidence: drift.Evidence{Kind: drift.ByManager, Tool: "argocd-controller", At: s.at(0)}},
	}
}

// strays are what is in a namespace and in no Git.
func (s *sample) strays(namespace string) drift.Orphans {
	made := s.at(-3000)
	return drift.Orphans{
		Cluster: "production-eu", Namespace: namespace, Declared: 12, Targets: 3, Left: []string{"secrets"},
		List: []drift.Orphan{
			{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: "scratch", Weight: drift.Data, Created: made, By: "alice@example.com", Known: drift.ByAudit},
			{Kind: "ConfigMap", Namespace: namespace, Name: "web-extra", Weight: drift.Running, Created: made, By: "kubectl create", Known: drift.ByManager, Mark: "payments-web"},
			{Kind: "Deployment", Namespace: namespace, Name: "debug", Weight: drift.Running, Created: made, By: "kubectl create", Known: drift.ByManager},
			{Kind: "Widget", Namespace: namespace, Name: "w", Weight: drift.Other, By: "unknown", Known: drift.Unknown},
		},
	}
}
