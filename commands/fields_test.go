package commands

import (
	"strings"
	"testing"

	"reconcilebot/commands/card"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/manifest"
)

func TestChosen(t *testing.T) {
	at := func(kind, name, path string) drift.Change {
		p, err := manifest.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		return drift.Change{Object: manifest.Object{APIVersion: "apps/v1", Kind: kind, Namespace: "payments", Name: name}, Path: p}
	}
	d := drift.Drift{Changes: []drift.Change{at("Deployment", "web", "spec.replicas"), at("Deployment", "worker", "spec.replicas"), at("Deployment", "web", "spec.template.spec.containers[name=web].image")}}
	for words, want := range map[string]string{
		"spec.replicas":                 "adopt adopt leave",
		"replicas":                      "adopt adopt leave",
		"deploy/web replicas":           "adopt leave leave",
		"deployment/payments/worker":    "leave adopt leave",
		"deployment/web":                "adopt leave adopt",
		"deployment/web image":          "leave leave adopt",
		"deployment/web image replicas": "adopt leave adopt",
		"plicas":                        "Nothing that differs is called plicas",
		"deployment/api replicas":       "Nothing that differs is called replicas",
		"statefulset/web":               "Nothing that differs is called statefulset/web",
	} {
		list, err := chosen(d, words, book.DoAdopt)
		var got []string
		for _, c := range list {
			got = append(got, string(c.Do))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, want) {
			t.Errorf("%q chooses %q, want %q", words, text, want)
		}
	}
}

func TestDecidePerField(t *testing.T) {
	r := newRig(t)
	r.types("alice", "incident INC-1")
	r.types("alice", "drift payments-web")
	opened := r.clicks("alice", card.ActionFields, r.shown())
	submit := func(who, choice string) Reply {
		req := r.request(Submit, who)
		req.Room = ""
		req.View = View{Callback: opened.Modal.CallbackID, Metadata: opened.Modal.PrivateMetadata,
			Values: map[string]string{card.BlockReason: "only this", card.BlockField + "0": choice}}
		return r.does(req)
	}
	r.wants(submit("alice", "leave"), "Everything would stay as it is")
	r.wants(submit("alice", "burn"), "older version")
	r.wants(submit("eve", "adopt"), "You can't decide about")
	r.wants(submit("alice", "adopt"), "")
	run := r.run("payments-web")
	if run.Book != book.Adopt || !strings.Contains(string(run.Decision.Choice), `"do":"adopt"`) {
		t.Errorf("decided %q %s", run.Book, run.Decision.Choice)
	}
	r.wants(submit("bob", "revert"), "alice already chose to adopt this")
}

func TestAdoptOfSomeTakesALook(t *testing.T) {
	r := newRig(t)
	r.types("alice", "incident INC-1")
	r.wants(r.types("alice", "adopt payments-web replicas because slow"), "Look first")
	r.types("alice", "drift payments-web")
	r.wants(r.types("alice", "adopt payments-web memory because slow"), "Nothing that differs is called memory")
	r.wants(r.types("alice", "adopt payments-web replicas because slow"), "")
	if run := r.run("payments-web"); run.Book != book.Adopt || run.Decision.Reason != "slow" {
		t.Errorf("decided %q %+v", run.Book, run.Decision)
	}
}

func TestAChangeIsTyped(t *testing.T) {
	r := newRig(t)
	r.types("alice", "incident INC-1")
	r.wants(r.types("eve", "change payments-web deployment/web spec.replicas=6 because slow"), "You can't decide about")
	r.wants(r.types("alice", "change payments-web web spec.replicas=6 because slow"), "The words don't fit")
	r.wants(r.types("alice", "change payments-web deployment/web spec.replicas because slow"), "says no value")
	r.wants(r.types("alice", "change payments-web deployment/web spec.replicas=6"), "Say why")
	r.wants(r.types("alice", "change payments-web deployment/web spec.replicas=6 because slow"), "")
	run := r.run("payments-web")
	wishes, err := book.WishesIn(run.Decision)
	if err != nil || run.Book != book.Change || len(wishes) != 1 || wishes[0] != (book.Wish{Object: "deployment/web", Path: "spec.replicas", Value: "6"}) {
		t.Errorf("decided %q %+v, %v", run.Book, wishes, err)
	}
}
