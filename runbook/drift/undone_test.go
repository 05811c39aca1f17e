package drift

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
)

// healed is a write of Argo CD's own, a moment after noon.
func healed() cluster.Write {
	w := wrote("system:serviceaccount:argocd:argocd-application-controller", "patch", "", "argocd-controller", `{"spec":{"replicas":3}}`, noon.Add(300*time.Millisecond))
	return w
}

func TestWhatSelfHealUndidIsRebuilt(t *testing.T) {
	const (
		scale = `{"spec":{"replicas":6}}`
		image = `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:1.1"}],"$setElementOrder/containers":[{"name":"web"}]}}}}`
		env   = `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"$patch":"delete","name":"LEVEL"}]}]}}}}`
		limit = `[{"op":"replace","path":"/spec/template/spec/containers/0/resources/limits/memory","value":"2Gi"}]`
		token = `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"API_TOKEN","value":"********"}]}]}}}}`
	)
	earlier := noon.Add(-time.Minute)
	for name, test := range map[string]struct {
		writes []cluster.Write
		do     func(*world)
		want   []string
	}{
		"a scale": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, noon), healed()},
			want:   []string{"set spec.replicas 3 -> 6; alice@example.com kubectl scale"},
		},
		"an image": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-set", image, noon), healed()},
			want:   []string{"set spec.template.spec.containers[name=web].image web:1.0 -> web:1.1; alice@example.com kubectl set"},
		},
		"a variable that was removed": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-set", env, noon), healed()},
			want:   []string{"remove spec.template.spec.containers[name=web].env[name=LEVEL] map[name:LEVEL value:info] -> <nil>; alice@example.com kubectl set"},
		},
		"a JSON patch": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-patch", limit, noon), healed()},
			want:   []string{"set spec.template.spec.containers[name=web].resources.limits.memory 1Gi -> 2Gi; alice@example.com kubectl patch"},
		},
		"the last of two hands": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, earlier), wrote("bob@example.com", "patch", "scale", "", `{"spec":{"replicas":5}}`, noon), healed()},
			want:   []string{"set spec.replicas 3 -> 5; bob@example.com kubectl scale"},
		},
		"whoever undid it himself made nothing to bring back": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, earlier), wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":3}}`, noon), healed()},
		},
		"a credential stays hidden": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-edit", token, noon), healed()},
			want:   []string{"set spec.template.spec.containers[name=web].env[name=API_TOKEN].value ++++++++ -> ++++++++++++; alice@example.com kubectl edit"},
		},
		"nothing shows that Argo CD undid it": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, noon)},
		},
		"somebody asked for the sync that undid it": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, noon), healed()},
			do: func(w *world) {
				w.app.Operation = &argocd.Operation{Phase: "Succeeded", Revision: sha1, By: "bob", StartedAt: noon, FinishedAt: noon.Add(time.Second)}
			},
		},
		"long ago": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, noon.Add(-3*time.Hour)), healed()},
		},
		"a service account's is none": {
			writes: []cluster.Write{wrote("system:serviceaccount:ci:deployer", "patch", "scale", "", scale, noon), healed()},
		},
		"what Git took over meanwhile": {
			writes: []cluster.Write{wrote("alice@example.com", "patch", "scale", "", scale, noon), healed()},
			do: func(w *world) {
				child(w.objects[0].Target, "spec")["replicas"] = int64(6)
				spec(w)["replicas"] = int64(6)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.app.Automated.SelfHeal = true
			w.app.Operation = &argocd.Operation{Phase: "Succeeded", Revision: sha1, Automated: true, Partial: true, StartedAt: noon, FinishedAt: noon.Add(time.Second)}
			w.writes = test.writes
			if test.do != nil {
				test.do(w)
			}
			d := w.survey(t)
			var got []string
			for _, c := range d.Undone {
				got = append(got, fmt.Sprintf("%s %s %v -> %v; %s %s", c.Op, c.Path, c.Git, c.Live, c.Evidence.Person, c.Evidence.Tool))
				if c.Outlook.Kind != Undone || !strings.Contains(c.Outlook.Text, "at 14:02:00 UTC, because self-heal is on.") {
					t.Errorf("outlook %s: %s", c.Outlook.Kind, c.Outlook.Text)
				}
			}
			if len(d.Changes) != 0 || !slices.Equal(got, test.want) {
				t.Errorf("%d changes, undone\n got %s\nwant %s", len(d.Changes), strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
		})
	}
}

// A Drift with what was undone has another digest than one without: what is
// decided on the one is not decided on the other.
func TestWhatWasUndoneIsInTheDigest(t *testing.T) {
	w := newWorld(t)
	before := w.survey(t)
	w.writes = []cluster.Write{wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon), healed()}
	if after := w.survey(t); after.Digest == before.Digest || len(after.Undone) != 1 {
		t.Errorf("%d undone, digests %.8s and %.8s", len(after.Undone), before.Digest, after.Digest)
	}
}

func TestRulesThatHidePeople(t *testing.T) {
	app := argocd.App{Raw: []byte(`{"spec":{"ignoreDifferences":[
		{"group":"apps","kind":"Deployment","managedFieldsManagers":["kube-controller-manager","kubectl-edit"]},
		{"group":"apps","kind":"StatefulSet","jsonPointers":["/spec/replicas"]},
		{"kind":"Service","managedFieldsManagers":["cloud-controller-manager"]}]}}`)}
	got := hidingRules(app)
	if len(got) != 1 || !strings.Contains(got[0], "whatever kubectl-edit writes to Deployment") {
		t.Errorf("got %q", got)
	}
}

func TestTheApplicationItselfIsComparedWithItsDeclaration(t *testing.T) {
	const declared = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"payments-web","namespace":"argocd"},
"spec":{"project":"default","source":{"repoURL":"https://git.example.com/acme/gitops","targetRevision":"main","path":"web"}}}`
	w := newWorld(t)
	w.app.Owner = "Application apps-prod"
	w.parent = &argocd.App{Ref: argocd.Ref{Namespace: "argocd", Name: "apps-prod"}, Sync: argocd.Sync{Status: "OutOfSync", Revision: sha1},
		Sources: []argocd.Source{{RepoURL: "https://git.example.com/acme/apps", TargetRevision: "main"}}, Automated: argocd.Automated{Present: true, Enabled: true},
		Operation: &argocd.Operation{Phase: "Succeeded", Revision: sha1}}
	live := object1(t, declared)
	child(live, "metadata")["uid"] = "u-app"
	child(child(live, "spec"), "source")["targetRevision"] = "hotfix"
	child(child(live, "spec"), "source")["kustomize"] = map[string]any{"images": []any{"web:1.1"}}
	by(live, "argocd-server", "Update", "", `{"f:spec":{"f:source":{"f:targetRevision":{},"f:kustomize":{".":{},"f:images":{}}}}}`, noon)
	w.declared = []argocd.Managed{{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: "payments-web", Target: object1(t, declared), Live: live}}
	d := w.survey(t)
	var got []string
	for _, c := range d.Own {
		got = append(got, fmt.Sprintf("%s %s %v -> %v %s", c.Op, c.Path, c.Git, c.Live, c.Outlook.Kind))
	}
	want := []string{"set spec.source.targetRevision main -> hotfix next-commit", "add spec.source.kustomize <nil> -> map[images:[web:1.1]] kept"}
	if !slices.Equal(got, want) || d.Parent != "apps-prod" || len(d.Changes) != 0 {
		t.Errorf("of %q, with %d changes of its objects: %q, want %q", d.Parent, len(d.Changes), got, want)
	}
}
