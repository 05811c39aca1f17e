package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// The steps into the Deployment that the cases change.
func spec(w *world) map[string]any { return child(w.live(), "spec") }
func pod(w *world) map[string]any  { return child(child(spec(w), "template"), "spec") }
func container(w *world) map[string]any {
	return pod(w)["containers"].([]any)[0].(map[string]any)
}

const owningContainer = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":%s}}}}}`

func scaled(w *world) {
	spec(w)["replicas"] = int64(6)
	by(w.live(), "kubectl", "Update", "scale", `{"f:spec":{"f:replicas":{}}}`, noon)
}

// line is a change as it is compared here.
func line(c Change) string {
	seen := ""
	if c.Invisible {
		seen = " invisible"
	}
	return fmt.Sprintf("%s %s %v -> %v%s; %s %s %s; %s", c.Op, c.Path, c.Git, c.Live, seen, c.Evidence.Kind, c.Evidence.Person, c.Evidence.Tool, c.Outlook.Kind)
}

func TestSurvey(t *testing.T) {
	for name, test := range map[string]struct {
		do    func(*world)
		want  []string
		noise []string
	}{
		"nobody did anything": {do: func(*world) {}},
		"scaled, and the audit log says by whom": {
			do: func(w *world) {
				scaled(w)
				w.writes = []cluster.Write{wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon)}
			},
			want: []string{"set spec.replicas 3 -> 6; audit alice@example.com kubectl scale; next-commit"},
		},
		"scaled without an audit log names nobody": {
			do:   func(w *world) { scaled(w); w.audit = false },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; next-commit"},
		},
		"another's earlier request is not blamed": {
			do: func(w *world) {
				scaled(w)
				w.writes = []cluster.Write{
					wrote("bob@example.com", "patch", "scale", "", `{"spec":{"replicas":5}}`, noon.Add(-time.Minute)),
					wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon),
					wrote("carol@example.com", "patch", "", "kubectl-label", `{"metadata":{"labels":{"x":"y"}}}`, noon.Add(time.Minute)),
				}
			},
			want: []string{"set spec.replicas 3 -> 6; audit alice@example.com kubectl scale; next-commit"},
		},
		"a service account is no person": {
			do: func(w *world) {
				scaled(w)
				w.writes = []cluster.Write{wrote("system:serviceaccount:ci:deployer", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon)}
			},
			want: []string{"set spec.replicas 3 -> 6; audit  kubectl scale; next-commit"},
		},
		"self-heal on": {
			do:   func(w *world) { scaled(w); w.app.Automated.SelfHeal = true },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; self-heal"},
		},
		"automated sync off": {
			do:   func(w *world) { scaled(w); w.app.Automated = argocd.Automated{} },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; manual-sync"},
		},
		"a commit that Argo CD has not seen": {
			do:   func(w *world) { scaled(w); w.head = sha2 },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; moved-head"},
		},
		"a source that was changed since the last sync": {
			do:   func(w *world) { scaled(w); w.app.Operation.Resourced = true },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; moved-head"},
		},
		"a deny window": {
			do: func(w *world) {
				scaled(w)
				w.windows.Active = []argocd.Window{{Kind: "deny"}}
			},
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; window"},
		},
		"a sync under way": {
			do:   func(w *world) { scaled(w); w.app.Operation.Phase = "Running" },
			want: []string{"set spec.replicas 3 -> 6; manager  kubectl scale; syncing"},
		},
		"the autoscaler's replicas are nobody's": {
			do: func(w *world) {
				scaled(w)
				w.hpas = append(w.hpas, hpa("web", "web"))
			},
			noise: []string{"owned by the autoscaler web: 1"},
		},
		"the image": {
			do: func(w *world) {
				container(w)["image"] = "web:1.1"
				by(w.live(), "kubectl-set", "Update", "", fmt.Sprintf(owningContainer, `{"f:image":{}}`), noon)
				w.writes = []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-set", `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:1.1"}]}}}}`, noon)}
			},
			want: []string{"set spec.template.spec.containers[name=web].image web:1.0 -> web:1.1; audit alice@example.com kubectl set; next-commit"},
		},
		"an environment variable added": {
			do: func(w *world) {
				container(w)["env"] = append(container(w)["env"].([]any), map[string]any{"name": "DEBUG", "value": "1"})
				by(w.live(), "kubectl-edit", "Update", "", fmt.Sprintf(owningContainer, `{"f:env":{"k:{\"name\":\"DEBUG\"}":{".":{},"f:name":{},"f:value":{}}}}`), noon)
				w.writes = []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-edit", `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"DEBUG","value":"1"}]}]}}}}`, noon)}
			},
			want: []string{"add spec.template.spec.containers[name=web].env[name=DEBUG] <nil> -> map[name:DEBUG value:1] invisible; audit alice@example.com kubectl edit; kept"},
		},
		"an environment variable removed": {
			do: func(w *world) {
				container(w)["env"] = container(w)["env"].([]any)[1:]
				w.writes = []cluster.Write{wrote("alice@example.com", "patch", "", "kubectl-set", `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"$patch":"delete","name":"LEVEL"}]}]}}}}`, noon)}
			},
			want: []string{"remove spec.template.spec.containers[name=web].env[name=LEVEL] map[name:LEVEL value:info] -> <nil>; audit alice@example.com kubectl set; next-commit"},
		},
		"a sidecar added, with its defaults": {
			do: func(w *world) {
				pod(w)["containers"] = append(pod(w)["containers"].([]any), map[string]any{"name": "debug", "image": "busybox", "imagePullPolicy": "Always"})
				by(w.live(), "kubectl-patch", "Update", "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"debug\"}":{".":{},"f:name":{},"f:image":{},"f:imagePullPolicy":{}}}}}}}`, noon)
			},
			want: []string{"add spec.template.spec.containers[name=debug] <nil> -> map[image:busybox imagePullPolicy:Always name:debug] invisible; manager  kubectl patch; kept"},
		},
		"a limit added": {
			do: func(w *world) {
				child(child(container(w), "resources"), "limits")["cpu"] = "500m"
				by(w.live(), "kubectl-set", "Update", "", fmt.Sprintf(owningContainer, `{"f:resources":{"f:limits":{"f:cpu":{}}}}`), noon)
			},
			want: []string{"add spec.template.spec.containers[name=web].resources.limits.cpu <nil> -> 500m invisible; manager  kubectl set; kept"},
		},
		"a label added": {
			do: func(w *world) {
				child(child(w.live(), "metadata"), "labels")["urgent"] = "yes"
				by(w.live(), "kubectl-label", "Update", "", `{"f:metadata":{"f:labels":{"f:urgent":{}}}}`, noon)
			},
			want: []string{"add metadata.labels.urgent <nil> -> yes invisible; manager  kubectl label; kept"},
		},
		"paused": {
			do: func(w *world) {
				spec(w)["paused"] = true
				by(w.live(), "kubectl-rollout", "Update", "", `{"f:spec":{"f:paused":{}}}`, noon)
			},
			want: []string{"add spec.paused <nil> -> true invisible; manager  kubectl rollout; kept"},
		},
		"restarted": {
			do: func(w *world) {
				child(child(spec(w), "template"), "metadata")["annotations"] = map[string]any{"kubectl.kubernetes.io/restartedAt": "2026-03-14T14:02:00Z"}
				by(w.live(), "kubectl-rollout", "Update", "", `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}}`, noon)
			},
			noise: []string{"restarted by hand (kubectl rollout restart): 1"},
		},
		"arguments are one list": {
			do: func(w *world) {
				container(w)["args"] = []any{"--a", "--b", "--c"}
				by(w.live(), "kubectl-edit", "Update", "", fmt.Sprintf(owningContainer, `{"f:args":{}}`), noon)
			},
			want: []string{"set spec.template.spec.containers[name=web].args [--a --b] -> [--a --b --c]; manager  kubectl edit; next-commit"},
		},
		"the same quantity written otherwise is no change": {
			do: func(w *world) {
				child(child(container(w), "resources"), "limits")["memory"] = "1024Mi"
			},
		},
		"a credential is masked": {
			do: func(w *world) {
				container(w)["env"].([]any)[1].(map[string]any)["value"] = "hunter3"
				by(w.live(), "kubectl-edit", "Update", "", fmt.Sprintf(owningContainer, `{"f:env":{"k:{\"name\":\"API_TOKEN\"}":{"f:value":{}}}}`), noon)
			},
			want: []string{"set spec.template.spec.containers[name=web].env[name=API_TOKEN].value ++++++++ -> ++++++++++++; manager  kubectl edit; next-commit"},
		},
		"a new commit that is not synced is nobody's": {
			do: func(w *world) {
				child(w.objects[0].Target, "spec")["replicas"] = int64(4)
				w.app.Automated, w.app.Sync.Revision, w.head = argocd.Automated{}, sha2, sha2
			},
			noise: []string{"in Git and not synced yet: 1"},
		},
		"a sidecar that a webhook injects is nobody's": {
			do: func(w *world) {
				pod(w)["containers"] = append(pod(w)["containers"].([]any), map[string]any{"name": "proxy", "image": "envoy"})
				by(w.live(), "sidecar-injector", "Update", "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"proxy\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`, noon)
			},
			noise: []string{"written by sidecar-injector: 1"},
		},
		"an object created, and labelled by somebody else": {
			do: func(w *world) {
				extra := object1(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"extra","namespace":"payments","uid":"u-9"}}`)
				by(extra, "kubectl-create", "Update", "", `{"f:data":{}}`, noon)
				by(extra, "kubectl-label", "Update", "", `{"f:metadata":{"f:labels":{}}}`, noon.Add(time.Minute))
				w.add(nil, extra)
				made := wrote("alice@example.com", "create", "", "kubectl-create", "", noon)
				marked := wrote("bob@example.com", "patch", "", "kubectl-label", "", noon.Add(time.Minute))
				for _, write := range []*cluster.Write{&made, &marked} {
					write.Object = cluster.WrittenObject{APIVersion: "v1", Resource: "configmaps", Namespace: "payments", Name: "extra"}
				}
				w.writes = []cluster.Write{made, marked}
			},
			want: []string{"add  <nil> -> ...; audit alice@example.com kubectl create; next-commit"},
		},
		"an object deleted": {
			do: func(w *world) {
				w.objects[0].Live = nil
				w.writes = []cluster.Write{wrote("alice@example.com", "delete", "", "", "", noon)}
			},
			want: []string{"remove  ... -> <nil>; audit alice@example.com kubectl delete; next-commit"},
		},
		"edited in Argo CD's UI": {
			do: func(w *world) {
				spec(w)["replicas"] = int64(6)
				by(w.live(), "argocd-server", "Update", "", `{"f:spec":{"f:replicas":{}}}`, noon)
				w.events = []argocd.Event{{Reason: "ResourceUpdated", User: "dora", Message: "dora patched resource apps/Deployment 'web'", At: noon}}
			},
			want: []string{"set spec.replicas 3 -> 6; controller dora Argo CD's UI or API; next-commit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			d := w.survey(t)
			if d.Refused != "" {
				t.Fatalf("refused: %s", d.Refused)
			}
			var got, noise []string
			for _, c := range d.Changes {
				if len(c.Path) == 0 && c.Git != nil {
					c.Git = "..."
				}
				if len(c.Path) == 0 && c.Live != nil {
					c.Live = "..."
				}
				got = append(got, line(c))
				if c.Outlook.Text == "" || strings.ContainsAny(c.Outlook.Text, "!%") {
					t.Errorf("outlook reads %q", c.Outlook.Text)
				}
			}
			for _, n := range d.Noise {
				if n.Why != "written by kube-controller-manager" {
					noise = append(noise, fmt.Sprintf("%s: %d", n.Why, n.Count))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("changes\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
			if !slices.Equal(noise, test.noise) {
				t.Errorf("noise %q, want %q", noise, test.noise)
			}
		})
	}
}

// missingProject is what a controller says of Applications while it starts, and
// of those whose project there really is none.
var missingProject = argocd.Condition{Type: "InvalidSpecError", Message: "Application referencing project default which does not exist"}

func TestAControllerThatStartedJustNowIsJudgedByItsComparison(t *testing.T) {
	w := newWorld(t)
	w.app.Conditions = []argocd.Condition{missingProject}
	if d := w.survey(t); d.Refused != "" {
		t.Errorf("refused %q, although there is a comparison", d.Refused)
	}
}

func TestRefusesToJudge(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*world)
		want string
	}{
		"rendering failed": {func(w *world) {
			w.app.Conditions = []argocd.Condition{{Type: "ComparisonError", Message: "repository not found\nmore"}}
		}, "ComparisonError: repository not found"},
		"no such project": {func(w *world) {
			w.app.Sync.Status = "Unknown"
			w.app.Conditions = []argocd.Condition{missingProject}
		}, "project default which does not exist"},
		"no comparison": {func(w *world) { w.app.Sync.Status = "Unknown" }, "no comparison"},
		"told to skip":  {func(w *world) { w.app.Skipped = true }, "skip-reconcile"},
		"shared": {func(w *world) {
			w.app.Conditions = []argocd.Condition{{Type: "SharedResourceWarning", Message: "web is in two"}}
		}, "more than one Application"},
		"an empty list":   {func(w *world) { w.objects = nil }, "empty"},
		"nothing in Git":  {func(w *world) { w.objects[0].Target = nil }, "failed rendering"},
		"another cluster": {func(w *world) { w.cluster = map[string]map[string]any{"web": nil} }, "another cluster"},
		"behind": {func(w *world) {
			newer := deepCopy(t, w.live())
			child(newer, "metadata")["resourceVersion"] = "101"
			child(newer, "spec")["replicas"] = int64(6)
			w.cluster = map[string]map[string]any{"web": newer}
		}, "has not looked at payments/Deployment/web"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.do(w)
			d := w.survey(t)
			if !strings.Contains(d.Refused, test.want) || len(d.Changes) != 0 {
				t.Errorf("refused %q with %d changes, want %q", d.Refused, len(d.Changes), test.want)
			}
		})
	}
}

func deepCopy(t *testing.T, m map[string]any) map[string]any {
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return object1(t, string(raw))
}

func TestWaitsUntilArgoCDHasSeenTheCluster(t *testing.T) {
	w := newWorld(t)
	old := deepCopy(t, w.live())
	scaled(w)
	child(w.live(), "metadata")["resourceVersion"] = "101"
	newer := w.live()
	w.cluster = map[string]map[string]any{"web": newer}
	w.objects[0].Live, w.objects[0].ResourceVersion = old, "100"
	w.catchUp = func(w *world) { w.objects[0].Live, w.objects[0].ResourceVersion = newer, "101" }
	d := w.survey(t)
	if len(d.Changes) != 1 || w.pauses != 1 || d.ResourceVersions["payments/Deployment/web"] != "101" || d.Sync != "OutOfSync" {
		t.Errorf("changes %v after %d pauses, versions %v, %s", d.Changes, w.pauses, d.ResourceVersions, d.Sync)
	}
}

func TestWaitsForAnAuditEventThatIsOnItsWay(t *testing.T) {
	w := newWorld(t)
	spec(w)["replicas"] = int64(6)
	by(w.live(), "kubectl", "Update", "scale", `{"f:spec":{"f:replicas":{}}}`, noon.Add(4*time.Minute-time.Second))
	w.catchUp = func(w *world) {
		w.writes = []cluster.Write{wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon.Add(4*time.Minute))}
	}
	if d := w.survey(t); w.pauses != 1 || d.Changes[0].Evidence.Person != "alice@example.com" {
		t.Errorf("after %d pauses: %+v", w.pauses, d.Changes[0].Evidence)
	}
	w.writes, w.catchUp, w.pauses = nil, nil, 0
	if d := w.survey(t); w.pauses != lags || d.Changes[0].Evidence.Kind != ByManager {
		t.Errorf("an event that never comes: after %d pauses: %+v", w.pauses, d.Changes[0].Evidence)
	}
}

func TestWaitsForAnObjectThatWasMadeAMomentAgo(t *testing.T) {
	w := newWorld(t)
	made := func(instance string) argocd.Managed {
		o := object1(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"copy","namespace":"payments","uid":"u-7","creationTimestamp":"2026-03-14T14:05:58Z","labels":{"app.kubernetes.io/instance":"`+instance+`"}}}`)
		by(o, "kubectl-create", "Update", "", `{"f:spec":{}}`, noon.Add(4*time.Minute-2*time.Second))
		return argocd.Managed{Group: "apps", Kind: "Deployment", Namespace: "payments", Name: "copy", Live: o}
	}
	w.unlisted = []argocd.Managed{made("payments-web")}
	w.catchUp = func(w *world) { w.objects, w.unlisted = append(w.objects, w.unlisted...), nil }
	if d := w.survey(t); len(d.Changes) != 1 || d.Changes[0].Object.Name != "copy" {
		t.Errorf("after %d pauses: %v", w.pauses, d.Changes)
	}
	w = newWorld(t)
	w.audit = false
	w.unlisted = []argocd.Managed{made("ledger")}
	if d := w.survey(t); len(d.Changes) != 0 || w.pauses != 0 {
		t.Errorf("another Application's object is waited for %d times", w.pauses)
	}
	w.unlisted = []argocd.Managed{made("payments-web")}
	if d := w.survey(t); d.Refused != "" || w.pauses > looks {
		t.Errorf("one that Argo CD never lists: refused %q after %d pauses", d.Refused, w.pauses)
	}
}

func TestStatusUpdatesAreNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	newer := deepCopy(t, w.live())
	child(newer, "metadata")["resourceVersion"] = "101"
	newer["status"] = map[string]any{"replicas": int64(2)}
	w.cluster = map[string]map[string]any{"web": newer}
	if d := w.survey(t); d.Refused != "" || w.pauses != 0 {
		t.Errorf("refused %q after %d pauses", d.Refused, w.pauses)
	}
}

func TestSecretsStayHidden(t *testing.T) {
	w := newWorld(t)
	const canary = "c2VjcmV0LWNhbmFyeQ=="
	target := object1(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"payments"},"data":{"p":"++++++++"}}`)
	live := object1(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"payments","uid":"u-2"},"data":{"p":"++++++++++++"}}`)
	w.add(target, live)
	// Should Argo CD ever fail to mask, nothing gets through here.
	leak := maps.Clone(live)
	leak["metadata"] = map[string]any{"name": "leak", "namespace": "payments", "uid": "u-3"}
	leak["data"] = map[string]any{"p": canary}
	w.add(nil, leak)
	cm := object1(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"payments","uid":"u-4"},"data":{"app.ini":"user=a\npassword = `+canary+`"}}`)
	gitCM := object1(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"payments"},"data":{"app.ini":"user=a"}}`)
	w.add(gitCM, cm)
	d := w.survey(t)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), canary) {
		t.Errorf("the canary is in %s", raw)
	}
	if len(d.Changes) != 3 {
		t.Errorf("%d changes, want 3", len(d.Changes))
	}
	for _, c := range d.Changes {
		if !c.Masked {
			t.Errorf("%s %s is not masked: %v -> %v", c.Object, c.Path, c.Git, c.Live)
		}
	}
}

func TestDriftSurvivesStorage(t *testing.T) {
	w := newWorld(t)
	scaled(w)
	d := w.survey(t)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Drift
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if back.Target != d.Target || back.Changes[0].Path.String() != "spec.replicas" || back.Digest != d.Digest {
		t.Errorf("came back as %+v", back)
	}
	if again := w.survey(t); again.Digest != d.Digest {
		t.Error("the same drift has two digests")
	}
	spec(w)["replicas"] = int64(8)
	if moved := w.survey(t); moved.Digest == d.Digest {
		t.Error("another drift has the same digest")
	}
}

func TestOutlookSaysWhatItPutsBack(t *testing.T) {
	w := newWorld(t)
	scaled(w)
	want := "it stays until the next commit on main, which will put it back to 3. Self-heal is off."
	if got := w.survey(t).Changes[0].Outlook.Text; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCompareLists(t *testing.T) {
	at := func(text string) manifest.Path {
		p, err := manifest.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	item := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	for name, test := range map[string]struct {
		path      string
		git, live []any
		want      []string
	}{
		"ports by number":           {"spec.ports", []any{item("port", 80, "targetPort", 1)}, []any{item("port", 80, "targetPort", 2)}, []string{"set spec.ports[port=80].targetPort"}},
		"ports by protocol as well": {"spec.ports", []any{item("port", 53, "protocol", "TCP", "targetPort", 1), item("port", 53, "protocol", "UDP", "targetPort", 1)}, []any{item("port", 53, "protocol", "TCP", "targetPort", 1), item("port", 53, "protocol", "UDP", "targetPort", 2)}, []string{"set spec.ports[port=53,protocol=UDP].targetPort"}},
		"rules by position":         {"spec.rules", []any{item("host", "a"), item("host", "b")}, []any{item("host", "a"), item("host", "c")}, []string{"set spec.rules[1].host"}},
		"rules of another length":   {"spec.rules", []any{item("host", "a")}, []any{item("host", "a"), item("host", "c")}, []string{"set spec.rules"}},
		"steps in another order":    {"spec.steps", []any{item("name", "a"), item("name", "b")}, []any{item("name", "b"), item("name", "a")}, []string{"set spec.steps"}},
		"containers in any order":   {"spec.containers", []any{item("name", "a"), item("name", "b")}, []any{item("name", "b"), item("name", "a")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range lists(at(test.path), test.git, test.live) {
				got = append(got, string(f.op)+" "+f.path.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
