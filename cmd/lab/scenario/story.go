package scenario

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/world"
)

// A story is a scenario under way. Once a stage has failed, the following ones
// are left out.
type story struct {
	ctx    context.Context
	rig    *rig.Rig
	world  world.World
	screen *sync.Mutex // the on-call engineer's, who is in every scenario
	stages []Stage
	err    error
	// measures are times within the stages.
	measures []Stage

	card slacksim.Message // the reconciliation's card as last seen
	pull int              // its pull request
	// further counts the reconciliations after the first one.
	further int
}

// do plays one stage.
func (t *story) do(name string, stage func(context.Context) error) {
	if t.err != nil {
		return
	}
	begun := time.Now()
	err := stage(t.ctx)
	t.stages = append(t.stages, Stage{Name: name, MS: time.Since(begun).Milliseconds()})
	if err != nil {
		t.err = fmt.Errorf("%s: %w", name, err)
	}
}

// note adds a time that was measured within a stage by someone else.
func (t *story) note(name string, took time.Duration) {
	t.measures = append(t.measures, Stage{Name: name, MS: took.Milliseconds()})
}

// as is a person in the incident's channel.
func (t *story) as(person string) *slacksim.Place {
	return t.rig.Slack.As(person).In(t.world.Channel)
}

// messages are everything the bot has said in the channel and its threads.
func (t *story) messages() []slacksim.Message {
	var all []slacksim.Message
	for _, m := range t.rig.Slack.Messages(t.world.ChannelID) {
		if m.ThreadTS != "" && m.ThreadTS != m.TS {
			continue
		}
		all = append(all, m)
		for _, reply := range t.rig.Slack.Thread(t.world.ChannelID, m.TS) {
			if reply.TS != m.TS {
				all = append(all, reply)
			}
		}
	}
	return all
}

// reads is a message as a person reads it: without the marks of formatting.
func reads(m slacksim.Message) string {
	return strings.NewReplacer("`", "", "*", "", "&gt;", ">", "&lt;", "<", "&amp;", "&").Replace(m.PlainText())
}

// has tells whether a message says all of these.
func has(m slacksim.Message, texts ...string) bool {
	text := reads(m)
	for _, want := range texts {
		if !strings.Contains(text, want) {
			return false
		}
	}
	return true
}

// see waits for a message that fits, and returns it.
func (t *story) see(ctx context.Context, what string, fits func(slacksim.Message) bool) (slacksim.Message, error) {
	var found slacksim.Message
	err := t.rig.Slack.Wait(ctx, what, func() bool {
		for _, m := range t.messages() {
			if fits(m) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		err = fmt.Errorf("%w; the channel says:\n%s", err, t.transcript())
	}
	return found, err
}

// told waits for what only one person sees.
func (t *story) told(ctx context.Context, person, what string, texts ...string) error {
	err := t.rig.Slack.Wait(ctx, what, func() bool {
		for _, m := range t.rig.Slack.Ephemerals(person, t.world.ChannelID) {
			if has(m, texts...) {
				return true
			}
		}
		return false
	})
	if err != nil {
		err = fmt.Errorf("%w; the channel says:\n%s", err, t.transcript())
	}
	return err
}

// transcript is the channel for those who look into a failure.
func (t *story) transcript() string {
	var b strings.Builder
	show := func(m slacksim.Message, mark string) {
		for line := range strings.Lines(strings.TrimSpace(reads(m))) {
			fmt.Fprintf(&b, "  %s %s\n", mark, strings.TrimRight(line, "\n"))
		}
		for _, button := range m.Buttons() {
			fmt.Fprintf(&b, "  %s [ %s ]\n", mark, button.Text)
		}
	}
	for _, m := range t.messages() {
		show(m, "|")
	}
	for _, p := range world.People() {
		for _, m := range t.rig.Slack.Ephemerals(p.Slack, t.world.ChannelID) {
			show(m, "| (only "+p.Name+")")
		}
	}
	if b.Len() == 0 {
		return "  nothing"
	}
	return b.String()
}

// press presses a button of the card.
func (t *story) press(ctx context.Context, person, button string) error {
	_, err := t.as(person).ClickButton(ctx, t.card.TS, button)
	if err != nil {
		return fmt.Errorf("%s presses %q: %w", person, button, err)
	}
	return nil
}

// opens presses a button that opens a modal, and waits for the modal. A person
// has one screen: two scenarios must not open modals on it at a time, so the
// screen is to be locked.
func (t *story) opens(ctx context.Context, person, button string) (*slacksim.Place, error) {
	p, before := t.as(person), ""
	if v := t.as(person).OpenView(); v != nil {
		before = v.ID // one that a scenario left open when it failed
	}
	if err := t.press(ctx, person, button); err != nil {
		return nil, err
	}
	return p, t.rig.Slack.Wait(ctx, "the modal that "+button+" opens", func() bool {
		v := p.OpenView()
		return v != nil && v.ID != before
	})
}

// asked presses a button that opens a modal, fills the modal and submits it.
func (t *story) asked(ctx context.Context, person, button, label, text string) error {
	t.screen.Lock()
	defer t.screen.Unlock()
	p, err := t.opens(ctx, person, button)
	if err != nil {
		return err
	}
	inv, err := p.Submit(ctx, "", map[string]string{label: text})
	if err != nil {
		return fmt.Errorf("%s submits the reason: %w", person, err)
	}
	if len(inv.Errors) > 0 {
		return fmt.Errorf("%s submits the reason: it was refused: %v", person, inv.Errors)
	}
	return nil
}

// kubectl runs kubectl as a person, in the world's namespace.
func (t *story) kubectl(ctx context.Context, person string, args ...string) error {
	args = append([]string{"--kubeconfig", t.rig.Kube.Kubeconfig(person), "--namespace", t.world.Namespace()}, args...)
	out, err := exec.CommandContext(ctx, t.rig.Kube.Kubectl, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl as %s: %w: %s", person, err, out)
	}
	return nil
}

// replicas waits until the Deployment asks for so many replicas and has them.
func (t *story) replicas(ctx context.Context, want int64) error {
	_, err := t.rig.Kube.Until(ctx, t.world.DeploymentObject(), fmt.Sprintf("%d replicas", want), func(d *unstructured.Unstructured) bool {
		asked, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
		ready, _, _ := unstructured.NestedInt64(d.Object, "status", "readyReplicas")
		return asked == want && ready == want
	})
	return err
}
