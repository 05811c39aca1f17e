package world

import (
	"strings"
	"time"
)

// A Commit is one commit of a repository's history.
type Commit struct {
	Author  string // a person's name
	Ago     time.Duration
	Message string
	Files   map[string]string // whole contents, by path
}

const day = 24 * time.Hour

// History is the repository as it has grown: the manifest was last touched
// months before the incident.
func (w World) History() []Commit {
	deployment := w.Text()
	first := strings.NewReplacer("2.14.3", "2.11.0", "replicas: 3", "replicas: 2", "replicaCount: 3", "replicaCount: 2").Replace(deployment)
	third := strings.Replace(deployment, "2.14.3", "2.13.1", 1)
	return []Commit{
		{Author: Platform, Ago: 412 * day, Message: "Begin with an empty platform repository", Files: map[string]string{
			"README.md":          w.text(readme),
			".github/CODEOWNERS": w.text(codeowners),
		}},
		{Author: AppOwner, Ago: 398 * day, Message: "Deploy " + w.App + " to production", Files: w.begin(first)},
		{Author: AppOwner, Ago: 203 * day, Message: "Run three replicas: one zone may fail\n\nTwo were not enough in the January outage.", Files: map[string]string{
			w.Manifest(): third,
		}},
		{Author: AppOwner, Ago: 96 * day, Message: "Release " + w.App + " 2.14.3", Files: map[string]string{
			w.Manifest(): deployment,
		}},
		{Author: Platform, Ago: 12 * day, Message: "Say who to ask", Files: map[string]string{
			"README.md": w.text(readme) + "\nQuestions: #platform.\n",
		}},
	}
}

// Fill fills in the names of this world: $APP, $NAMESPACE and $REPO.
func (w World) Fill(s string) string { return w.text(s) }

// text fills in the names of this world.
func (w World) text(s string) string {
	return strings.NewReplacer("$APP", w.App, "$NAMESPACE", w.Namespace(), "$REPO", w.Repo).Replace(s)
}

const readme = `# $REPO

What runs in production, and nothing else does: Argo CD applies this
repository. Changes come by pull request; their code owners review them.
`

const codeowners = `# The last line that matches decides.
*                      @acme/platform
/overlays/prod/$APP/   @acme/payments
`

const deploymentYAML = `# $APP: takes card payments. Owners: @acme/payments.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $APP
  labels:
    app: $APP
    team: payments
spec:
  # One more than a zone failure takes away. Ask before changing: each replica
  # holds 20 connections to the ledger database.
  replicas: 3
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      app: $APP
  template:
    metadata:
      labels:
        app: $APP
        team: payments
    spec:
      containers:
      - name: web
        image: ghcr.io/acme/payments-web:2.14.3  # released weekly, see the changelog
        ports:
        - {name: http, containerPort: 8080}
        envFrom:
        - configMapRef: {name: $APP-settings}
        env:
        - name: LOG_LEVEL
          value: "info"
        resources:
          requests: {cpu: 250m, memory: 256Mi}
          limits:
            memory: 512Mi   # 2.13 leaked; keep the limit
        readinessProbe:
          httpGet: {path: /healthz, port: http}
          periodSeconds: 5
`

const serviceYAML = `apiVersion: v1
kind: Service
metadata:
  name: $APP
spec:
  selector:
    app: $APP
  ports:
  - name: http
    port: 80
    targetPort: http
`

const settingsYAML = `apiVersion: v1
kind: ConfigMap
metadata:
  name: $APP-settings
data:
  CHECKOUT_TIMEOUT: "30s"
  LEDGER_POOL: "20"
`

// Text is the manifest as it is on the main branch.
func (w World) Text() string {
	if w.Chart {
		return w.text(valuesYAML)
	}
	return w.text(deploymentYAML)
}

// begin is what is in the folder, with the manifest as it was at first.
func (w World) begin(manifest string) map[string]string {
	if !w.Chart {
		return map[string]string{
			w.Manifest():                  manifest,
			w.Folder() + "/service.yaml":  w.text(serviceYAML),
			w.Folder() + "/settings.yaml": w.text(settingsYAML),
		}
	}
	return map[string]string{
		w.Manifest():                              manifest,
		w.Folder() + "/Chart.yaml":                w.text(chartYAML),
		w.Folder() + "/values.yaml":               defaultsYAML,
		w.Folder() + "/templates/service.yaml":    w.text(serviceYAML),
		w.Folder() + "/templates/settings.yaml":   w.text(settingsYAML),
		w.Folder() + "/templates/deployment.yaml": templated.Replace(w.text(deploymentYAML)),
	}
}

const chartYAML = `apiVersion: v2
name: $APP
version: 1.0.0
`

const defaultsYAML = `replicaCount: 1
image:
  repository: ghcr.io/acme/payments-web
  tag: latest
`

const valuesYAML = `# $APP in production. Owners: @acme/payments.
# One more than a zone failure takes away.
replicaCount: 3
image:
  tag: 2.14.3  # released weekly, see the changelog
`

// templated makes a template of the manifest.
var templated = strings.NewReplacer(
	"replicas: 3", "replicas: {{ .Values.replicaCount }}",
	"ghcr.io/acme/payments-web:2.14.3", `"{{ .Values.image.repository }}:{{ .Values.image.tag }}"`,
)
