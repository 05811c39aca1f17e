package world

// Kubernetes is what the cluster holds of this world: its namespace, who may
// work in it, the repository's credentials for Argo CD, and the Application as
// its team wrote it: pruning, but not healing by itself.
func (w World) Kubernetes(repoURL, user, password string) string {
	return fill(w.text(namespaceYAML), "$URL", repoURL, "$USER", user, "$PASSWORD", password)
}

// Application is the world's Argo CD Application.
func (w World) Application(repoURL string) string {
	helm := ""
	if w.Chart {
		helm = ", helm: {valueFiles: [/" + w.Manifest() + "]}"
	}
	return fill(w.text(applicationYAML), "$URL", repoURL, "$FOLDER", w.Folder(), "$HELM", helm)
}

const namespaceYAML = `
apiVersion: v1
kind: Namespace
metadata: {name: $NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: on-call, namespace: $NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: sre}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: payments}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: platform}
---
apiVersion: v1
kind: Secret
metadata:
  name: repo-$REPO
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: repository}
stringData: {type: git, url: "$URL", username: "$USER", password: "$PASSWORD"}
`

const applicationYAML = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: $APP, namespace: argocd}
spec:
  project: default
  source: {repoURL: "$URL", targetRevision: main, path: $FOLDER$HELM}
  destination: {server: https://kubernetes.default.svc, namespace: $NAMESPACE}
  syncPolicy:
    automated: {prune: true, selfHeal: false}
`
