package main

import (
	"strings"
	"testing"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
)

// TestGuideWithoutABotSaysHowToGoOn covers -nobot: the exact command, and what
// the lab does itself when it starts the bot.
func TestGuideWithoutABotSaysHowToGoOn(t *testing.T) {
	r := &rig.Rig{
		Page: "http://127.0.0.1:7411", GitPage: "http://127.0.0.1:3000", ArgoPage: "http://127.0.0.1:4000", Dir: "/run/lab",
		Kube: &systems.Kubernetes{}, Argo: &systems.ArgoCD{URL: "http://127.0.0.1:5000", CLI: "/run/lab/argocd"},
		Bot:    &rig.Bot{Program: "/cache/reconcilebot", Config: "/run/lab/bot/config.yaml"},
		Worlds: []world.World{world.Main()},
	}
	text := guide(r)
	at := -1
	for _, says := range []string{
		"http://127.0.0.1:4000/applications",
		"\n     /cache/reconcilebot serve --config /run/lab/bot/config.yaml\n",
		"\n     /reconcile incident INC-1234\n",
		"What to try:",
	} {
		i := strings.Index(text, says)
		if i <= at {
			t.Errorf("the guide does not say %q, or not in order:\n%s", says, text)
		}
		at = i
	}
	if strings.Contains(text, "pid 0") || strings.Contains(text, "%!") {
		t.Errorf("the guide says what is not so:\n%s", text)
	}
}
