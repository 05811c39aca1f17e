package world

import (
	"strings"
	"testing"
)

func TestHistoryEndsInTheCase(t *testing.T) {
	w := Main()
	var manifest string
	var touched int
	for i, c := range w.History() {
		if text, ok := c.Files[w.Manifest()]; ok {
			if text == manifest {
				t.Errorf("commit %d, %q, changes nothing", i, c.Message)
			}
			manifest, touched = text, i
		}
		if i > 0 && c.Ago >= w.History()[i-1].Ago {
			t.Errorf("commit %d is older than the one before", i)
		}
	}
	if manifest != w.Text() {
		t.Error("the history ends in another manifest than Text returns")
	}
	if strings.Count(w.Text(), "replicas: 3") != 1 {
		t.Error("the manifest does not say once that there are three replicas")
	}
	if ago := w.History()[touched].Ago; ago < 60*day {
		t.Errorf("the manifest was touched %s ago; in the case it was months", ago)
	}
}

func TestNoNameIsLeftOpen(t *testing.T) {
	w := New(7, "scaled-adopt")
	texts := []string{w.Kubernetes("http://host/r.git", "argocd", "secret"), w.Application("http://host/r.git")}
	for _, c := range w.History() {
		for _, text := range c.Files {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "$") {
			t.Errorf("a name was not filled in:\n%s", text)
		}
	}
}
