// Package world describes what the lab's systems hold: people, and for each
// incident a channel, a repository, a namespace and an Application, in the state
// in which many a real incident begins.
//
// It must never share anything but the people between two worlds: scenarios run
// side by side, each in its own.
//
// Why every world has a repository and namespace of its own: a commit to a
// shared branch would make Argo CD sync the Applications of the others, and
// with that undo their manual changes.
package world

import (
	"fmt"
	"strings"
)

// Owner is the organisation that the repositories belong to.
const Owner = "acme"

// Cluster is the cluster's name in the bot's configuration.
const Cluster = "production-eu"

// SpeaksFirst begins the names of the worlds in whose channels the bot speaks
// of changes that nobody asked about.
const SpeaksFirst = "drift-speaks"

// A World is one incident's surroundings.
type World struct {
	Name      string // "payments"; the namespace, too
	App       string // the Application and the Deployment: "payments-web"
	Repo      string // "gitops"
	Incident  string // "INC-1234"
	ChannelID string
	Channel   string // without #: "inc-1234-payments"
	// Chart says that a Helm chart makes the manifests, with a values file
	// for production.
	Chart bool
}

// Main is the world that a person meets in the lab.
func Main() World {
	return World{
		Name: "payments", App: "payments-web", Repo: "gitops",
		Incident: "INC-1234", ChannelID: "C0PAYMENTS", Channel: "inc-1234-payments",
	}
}

// New makes the nth further world, named for what happens in it.
func New(n int, name string) World {
	incident := fmt.Sprintf("INC-%d", 2000+n)
	return World{
		Name: name, App: name + "-web", Repo: "gitops-" + name,
		Incident: incident, ChannelID: fmt.Sprintf("C0SCENE%03d", n), Channel: strings.ToLower(incident) + "-" + name,
	}
}

// Folder is where the Application's manifests are in the repository.
func (w World) Folder() string {
	if w.Chart {
		return "charts/" + w.App
	}
	return "overlays/prod/" + w.App
}

// Manifest is the file that says how many replicas there are.
func (w World) Manifest() string {
	if w.Chart {
		return "overlays/prod/" + w.App + "/values.yaml"
	}
	return w.Folder() + "/deployment.yaml"
}

// Namespace is where the Deployment runs.
func (w World) Namespace() string { return w.Name }
