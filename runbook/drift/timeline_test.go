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

// told is a touch as it is compared here.
func told(t Touch) string {
	by := t.Evidence.Person
	if by == "" {
		by = "(" + t.Evidence.Tool + ")"
	}
	return fmt.Sprintf("%s %s %s: %s", t.At.Format("15:04:05"), t.Evidence.Kind, by, strings.Join(t.What, ", "))
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	scaled(w)
	w.writes = []cluster.Write{
		wrote("alice@example.com", "patch", "scale", "", `{"spec":{"replicas":6}}`, noon),
		wrote("bob@example.com", "patch", "", "kubectl-set", `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"web"}],"containers":[{"name":"web","image":"web:1.1","env":[{"name":"API_TOKEN","value":"canary-9"}]}]}}}}`, noon.Add(time.Minute)),
		wrote("carol@example.com", "patch", "", "kubectl-patch", `[{"op":"test","path":"/spec/replicas","value":6},{"op":"remove","path":"/spec/paused"}]`, noon.Add(2*time.Minute)),
	}
	by(w.live(), "k9s", "Update", "", `{"f:spec":{"f:paused":{}}}`, noon.Add(3*time.Minute))
	w.events = []argocd.Event{
		{Reason: "OperationStarted", User: "dora", Message: "dora initiated sync to main", At: noon.Add(4 * time.Minute)},
		{Reason: "ResourceUpdated", Message: "Updated sync status: Synced -> OutOfSync", At: noon.Add(5 * time.Minute)},
	}
	all, err := w.surveyor().Timeline(t.Context(), Target{"production-eu", Application, "argocd", "payments-web"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, touch := range all {
		if !touch.Automatic {
			got = append(got, told(touch))
		}
	}
	want := []string{
		"14:06:00 controller dora: initiated sync to main",
		"14:05:00 manager (k9s): spec.paused",
		"14:04:00 audit carol@example.com: spec.paused removed",
		"14:03:00 audit bob@example.com: spec.template.spec.containers[name=web].env[name=API_TOKEN].value (its value is not shown), spec.template.spec.containers[name=web].image = web:1.1",
		"14:02:00 audit alice@example.com: spec.replicas = 6",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(fmt.Sprint(all), "canary-9") {
		t.Error("a credential is in the timeline")
	}
	if one, err := w.surveyor().Timeline(t.Context(), Target{"production-eu", Application, "argocd", "payments-web"}, "service/web"); err != nil || len(one) != 0 {
		t.Errorf("of an object that is not there: %v, %v", one, err)
	}
}
