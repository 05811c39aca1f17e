package scenario

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/systems"
	"reconcilebot/cmd/lab/world"
	"reconcilebot/runbook/manifest"
)

// A driftCase is something that is done by hand, what the card is to say about
// it, and what the controller is to do to it then. Each is a scenario.
type driftCase struct {
	name string
	does string
	// given comes before the change.
	given []func(*story)
	hands []deed
	// late asks only when the change is undone already.
	late bool
	// at is the field that was changed; it is watched to the end.
	at spot
	// says is what the card says: the change, who made it, and what happens
	// if nobody acts.
	says []string
	// not is what it must not say.
	not []string
	// ends is the event that the outlook speaks of.
	ends func(*story, spot)
}

// A deed is one call of kubectl by somebody, in the world's namespace. $APP
// stands for the application's name.
type deed struct {
	person string
	args   []string
}

// alice is what the on-call engineer does.
func alice(args ...string) deed { return deed{world.OnCall, args} }

// A spot is a field of an object of the world, with its value in Git and the
// one that it is given by hand. An empty value is an absent field.
type spot struct {
	kind, name, path string
	git, live        string
}

// object names the spot's object; an Application is in Argo CD's namespace.
func (s spot) object(w world.World) systems.Object {
	o := systems.Object{Kind: s.kind, Namespace: w.Namespace(), Name: strings.ReplaceAll(s.name, "$APP", w.App)}
	if s.kind == "Application" {
		o.Namespace = "argocd"
	}
	return o
}

// has tells whether an object has a value at the spot.
func (s spot) has(want string) func(*unstructured.Unstructured) bool {
	return func(obj *unstructured.Unstructured) bool { return s.value(obj) == want }
}

// value is what an object has at the spot; "" if it has nothing there.
func (s spot) value(obj *unstructured.Unstructured) string {
	path, err := manifest.ParsePath(s.path)
	if err != nil {
		return err.Error()
	}
	var v any = obj.Object
	for _, e := range path {
		if v = stepInto(v, e); v == nil {
			return ""
		}
	}
	return fmt.Sprint(v)
}

func stepInto(v any, e manifest.Elem) any {
	if i, ok := e.Index(); ok {
		if l, _ := v.([]any); i < len(l) {
			return l[i]
		}
		return nil
	}
	if e.Item == nil {
		m, _ := v.(map[string]any)
		return m[e.Key]
	}
	items, _ := v.([]any)
	for _, item := range items {
		m, fits := item.(map[string]any)
		for key, value := range e.Item {
			fits = fits && fmt.Sprint(m[key]) == value
		}
		if fits {
			return item
		}
	}
	return nil
}

// driftScenarios are those of seeing: what differs, who did it, what happens
// next, and that it does.
func driftScenarios() []Scenario {
	var list []Scenario
	for _, c := range driftCases() {
		list = append(list, Scenario{Name: "drift-" + c.name, Does: c.does, play: c.play})
	}
	return append(list, Scenario{Name: "drift-canary", Does: "what is secret is in no message, no log and no state, wherever it was", play: driftCanary})
}

func (c driftCase) play(t *story) {
	for _, first := range c.given {
		first(t)
	}
	for _, d := range c.hands {
		t.does(d)
	}
	if c.late {
		t.is(c.at, c.at.git)
	}
	t.asks()
	t.do("card", func(ctx context.Context) (err error) {
		says := append([]string{t.world.App}, t.words(c.says)...)
		t.card, err = t.see(ctx, "the card, which says "+strings.Join(says, " | "), func(m slacksim.Message) bool {
			return has(m, says...)
		})
		if err != nil {
			return err
		}
		for _, text := range t.words(c.not) {
			if has(t.card, text) {
				return fmt.Errorf("the card says %q:\n%s", text, t.transcript())
			}
		}
		return t.shares(ctx)
	})
	if c.ends != nil {
		c.ends(t, c.at)
	}
}

// does is one deed.
func (t *story) does(d deed) {
	args := t.words(d.args)
	t.do("kubectl "+strings.Join(args[:min(2, len(args))], " ")+" as "+d.person, func(ctx context.Context) error {
		return t.kubectl(ctx, d.person, args...)
	})
}

// words fills in the application's name, and where its manifest is.
func (t *story) words(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.NewReplacer("$APP", t.world.App, "$FILE", t.file()).Replace(s)
	}
	return out
}

// is waits until the spot has a value.
func (t *story) is(s spot, want string) {
	shown := want
	if want == "" {
		shown = "absent"
	}
	t.do(s.path+" is "+shown, func(ctx context.Context) error {
		_, err := t.rig.Kube.Until(ctx, s.object(t.world), s.path+" "+shown, s.has(want))
		return err
	})
}

// still checks that the spot has what it was given by hand, now and not later.
func (t *story) still(s spot) {
	t.do("it stands", func(ctx context.Context) error {
		obj, err := t.rig.Kube.Get(ctx, s.object(t.world))
		if err != nil {
			return err
		}
		if got := s.value(obj); got != s.live {
			return fmt.Errorf("%s is %q, want %q as it was made by hand", s.path, got, s.live)
		}
		return nil
	})
}
