// Package page drives the lab's page in a real browser, as people would: by
// reading, typing and clicking.
//
// It must never reach around the page: what people cannot see or press there,
// the test cannot either. Only kubectl is run beside it, as they would.
//
// Why a package of its own: it needs the lab's programs built and the machine
// to itself, so it runs after everything else.
package page

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"reconcilebot/cmd/lab/build"
	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/world"
)

// picture is where to put a picture of the page for the README; it is taken
// again whenever what people see has changed.
var picture = flag.String("picture", "", "take a picture of the page with the first card, into this `FILE`")

const (
	// startUp is how long building and starting the lab may take, the first
	// time on a small machine.
	startUp = 25 * time.Minute
	// job is how long the main job may take, with all that waits.
	job = 3 * time.Minute
)

func TestMainJobInTheBrowser(t *testing.T) {
	browser := program(t)
	lab := start(t)
	w := lab.Worlds[0]
	p := open(t, browser, lab.Page, w.Channel)

	kubectl(t, lab, w, "scale", "deployment/"+w.App, "--replicas=6")
	p.as(world.OnCall)
	p.typeInto(composer, "/reconcile drift "+w.App)
	p.press(send)
	p.see("#messages", "3 → 6")
	p.see("#messages", "alice@example.com")
	p.shoot(*picture)

	p.pressButton(button("messages", "Adopt into Git"))
	p.typeInto(answer, "checkout was timing out under the evening load")
	p.press(submit)
	p.see("#messages", "0 differences")

	p.as(world.AppOwner)
	p.pressButton(button("messages", "Approve"))
	pull := p.attribute(`#messages a[href*="/pull/"]`, "href")
	thread := p.attribute(`#messages li:has([data-testid="open-thread"])`, "data-ts")
	p.reviewAs(world.Platform, pull)

	p.as(world.OnCall)
	p.goTo("&thread=" + thread)
	p.see("#replies", "reconciled: adopted into Git")
	for _, part := range []string{"alice@example.com", "checkout was timing out", world.AppOwner, "Synced", "Healthy"} {
		p.see("#replies", part)
	}
	if got := kubectl(t, lab, w, "get", "deployment/"+w.App, "-o", "jsonpath={.spec.replicas}"); got != "6" {
		t.Errorf("the cluster runs %s replicas, want the 6 that were adopted", got)
	}
}

// program finds a browser.
func program(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("needs chromium: none of %s is installed", strings.Join(names, ", "))
	return ""
}

// start starts the lab and ends it with the test.
func start(t *testing.T) *rig.Rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startUp)
	t.Cleanup(cancel)
	tree, err := rig.Tree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := build.CacheFolder(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := build.Builder{Cache: cache, Display: &build.Lines{Out: t.Output(), Now: time.Now}, Now: time.Now}.Build(ctx, rig.Programs(tree)...)
	if err != nil {
		t.Fatal(err)
	}
	lab, err := rig.Start(ctx, rig.Options{Tree: tree, Programs: programs, Addr: "127.0.0.1:0", Worlds: []world.World{world.Main()}, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(t.Failed()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the lab's logs are kept in %s", lab.Dir)
		}
	})
	return lab
}

// kubectl runs the real kubectl as the on-call engineer.
func kubectl(t *testing.T, lab *rig.Rig, w world.World, args ...string) string {
	t.Helper()
	all := append([]string{"--kubeconfig", lab.Kube.Kubeconfig(world.OnCall), "-n", w.Namespace()}, args...)
	out, err := exec.CommandContext(t.Context(), lab.Kube.Kubectl, all...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// tab is one browser tab on the lab's page.
type tab struct {
	t       *testing.T
	ctx     context.Context // chromedp keeps the tab in its context
	page    string
	channel string
	person  string
}

// open starts the browser. Nothing it does leaves the machine.
func open(t *testing.T, browser, page, channel string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1440, 960),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	// What the browser leaves behind goes with the test.
	temporary, err := os.MkdirTemp("", "reconcilebot-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temporary) }) // a slow helper of the browser may still write
	ctx, end := chromedp.NewExecAllocator(t.Context(), append(options, chromedp.Env("TMPDIR="+temporary))...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	// The first call starts the browser, which lives as long as its context:
	// the job's deadline must come after it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	ctx, end = context.WithTimeout(ctx, job)
	t.Cleanup(end)
	return &tab{t: t, ctx: ctx, page: page, channel: channel}
}

// do runs browser actions. When they never come true it tells what is there.
func (p *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.must(what, chromedp.Do(p.ctx, actions...))
}

// must ends the test with what is on the page.
func (p *tab) must(what string, err error) {
	p.t.Helper()
	if err == nil {
		return
	}
	now, end := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
	defer end()
	text, unread := chromedp.Run(now, chromedp.Text(chromedp.CSS("body")))
	if unread != nil {
		text = "nothing that could be read"
	}
	p.t.Fatalf("%s, as %s: %v\nOn the page is:\n%s", what, p.person, err, text)
}

// as makes a person of the one at the screen.
func (p *tab) as(person string) {
	p.t.Helper()
	p.person = person
	p.goTo("")
}

func (p *tab) goTo(more string) {
	p.t.Helper()
	p.do("open the channel", chromedp.Navigate(fmt.Sprintf("%s/?as=%s&channel=%s%s", p.page, p.person, p.channel, more)),
		chromedp.WaitVisible(composer))
}

const (
	composer = chromedp.CSS(`[data-testid="composer"]`)
	send     = chromedp.CSS(`[data-testid="composer-send"]`)
	answer   = chromedp.CSS(`[data-testid="modal"] textarea`)
	submit   = chromedp.CSS(`[data-testid="modal-submit"]`)
)

// button names a button by what is written on it, in a part of the page.
func button(in, text string) chromedp.Search {
	return chromedp.Search(fmt.Sprintf(`//*[@id=%q]//button[normalize-space(.)=%q]`, in, text))
}

func (p *tab) press(what chromedp.CSS) {
	p.t.Helper()
	p.do("press "+string(what), chromedp.WaitEnabled(what), chromedp.Click(what))
}

func (p *tab) pressButton(what chromedp.Search) {
	p.t.Helper()
	p.do("press "+string(what), chromedp.WaitEnabled(what), chromedp.Click(what))
}

func (p *tab) typeInto(where chromedp.CSS, text string) {
	p.t.Helper()
	p.do("type into "+string(where), chromedp.WaitVisible(where), chromedp.SendKeys(where, text))
}

// see waits until some words are in a part of the page.
func (p *tab) see(where, words string) {
	p.t.Helper()
	js := fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").includes(%q)`, where, words)
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](js, chromedp.WithPollingTimeout(0)))
	p.must(fmt.Sprintf("see %q in %s", words, where), err)
}

// attribute reads one of the first element that a selector finds.
func (p *tab) attribute(of chromedp.CSS, name string) string {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.AttributeValue(of, name))
	p.must("read "+name+" of "+string(of), err)
	return value.Value
}

// reviewAs approves a pull request on the Git host's own page.
func (p *tab) reviewAs(person, pull string) {
	p.t.Helper()
	p.person = person
	p.do("open the pull request", chromedp.Navigate(pull))
	p.do("say who is there", chromedp.WaitVisible(chromedp.CSS("select")), chromedp.SetValue(chromedp.CSS("select"), person))
	p.pressButton(`//button[normalize-space(.)="Approve"]`)
	// The form is sent and its answer drawn before anything else is opened.
	p.do("see the review", chromedp.WaitVisible(chromedp.Search(fmt.Sprintf(`//li[contains(normalize-space(.), "%s approved")]`, person))))
}

// shoot takes a picture, if a file is named.
func (p *tab) shoot(file string) {
	p.t.Helper()
	if file == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.must("take a picture", err)
	if err := os.WriteFile(filepath.Clean(file), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
