package scenario

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"reconcilebot/bot/slacksim"
	"reconcilebot/cmd/lab/world"
)

// canary is a value that must be nowhere; n tells where it was put.
func canary(n string) string { return "canary-" + n + "-5f2c9e" }

// driftCanary puts a value into everything that may hold a secret, changes it
// by hand, has the bot look in every way there is, and then searches what the
// bot said, logged and stored.
func driftCanary(t *story) {
	inGitToo(map[string]string{"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: $APP-db}\nstringData: {password: " + canary("git") + "}\n"})(t)
	t.does(patch("secret/$APP-db", "merge", `{"stringData":{"password":"`+canary("secret")+`"}}`))
	t.does(alice("set", "env", "deployment/$APP", "DB_PASSWORD="+canary("env")))
	t.does(alice("set", "env", "deployment/$APP", "DSN=postgres://web:"+canary("address")+"@db/ledger"))
	t.does(patch("configmap/$APP-settings", "merge", `{"data":{"API_TOKEN":"`+canary("configmap")+`","app.ini":"user = web\npassword = `+canary("ini")+`\n"}}`))
	t.does(alice("create", "secret", "generic", "$APP-made", "--from-literal=key="+canary("made")))
	t.does(alice("label", "secret/$APP-made", "app.kubernetes.io/instance=$APP"))
	file(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$APP-applied","labels":{"app.kubernetes.io/instance":"$APP"}},"stringData":{"key":"` + canary("applied") + `"}}`)(t)
	t.does(deed{world.OnCall, []string{"apply", "-f", "$FILE"}}) // a copy of it is in an annotation
	t.does(patch("deployment/$APP", "json", `[{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"SIGNING_KEY","value":"`+canary("patch")+`"}}]`))
	t.asks()
	t.do("card", func(ctx context.Context) (err error) {
		t.card, err = t.see(ctx, "the card with what is secret, and not shown", func(m slacksim.Message) bool {
			_, more := m.Button("All changes")
			return more && has(m, t.world.App, "its value is secret and not shown", "alice@example.com")
		})
		return err
	})
	var listed []byte
	t.do("all changes", func(ctx context.Context) error {
		t.screen.Lock()
		defer t.screen.Unlock()
		p, err := t.opens(ctx, world.OnCall, "All changes")
		if err != nil {
			return err
		}
		view := p.OpenView()
		if listed, err = json.Marshal(view); err != nil {
			return err
		}
		_, err = p.CloseView(ctx, view.ID)
		return err
	})
	t.types("who", "who "+t.world.App)
	t.do("the timeline", func(ctx context.Context) error {
		return t.told(ctx, world.OnCall, "who touched it", "Who touched", "its value is not shown")
	})
	t.types("orphans", "orphans "+t.world.App)
	t.do("the orphans", func(ctx context.Context) error { return t.told(ctx, world.OnCall, "what is in no Git", "In no Git") })
	t.nowhere(&listed, "git", "secret", "env", "address", "configmap", "ini", "made", "applied", "patch")
}

// nowhere searches for canaries, as they are and in base64, in what was said,
// shown in a modal, logged and stored. Copies of repositories hold what is in Git and are left
// out.
func (t *story) nowhere(modal *[]byte, names ...string) {
	t.do("the canaries are nowhere", func(context.Context) error {
		places := map[string][]byte{}
		said, err := json.Marshal(t.messages())
		if err != nil {
			return err
		}
		places["the channel"] = append(said, t.transcript()...)
		places["the list of all changes"] = *modal
		for _, pattern := range []string{"bot/*.db", "logs/reconcilebot*"} {
			files, err := filepath.Glob(filepath.Join(t.rig.Dir, pattern))
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return fmt.Errorf("there is no file %s to search", pattern)
			}
			for _, name := range files {
				if places[name], err = os.ReadFile(name); err != nil {
					return err
				}
			}
		}
		for place, content := range places {
			for _, n := range names {
				for _, form := range []string{canary(n), base64.StdEncoding.EncodeToString([]byte(canary(n)))} {
					if bytes.Contains(content, []byte(form)) {
						return fmt.Errorf("%s holds the canary from %q", place, n)
					}
				}
			}
		}
		return nil
	})
}
