package book

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reconcilebot/runbook/forge/githubsim"
	"reconcilebot/runbook/git"
)

// TestSignedCommitsEverywhere goes the whole way in a repository that takes
// nothing unsigned, in both ways of signing.
func TestSignedCommitsEverywhere(t *testing.T) {
	for name, sign := range map[string]func(*testing.T, *world){
		"by GitHub": func(_ *testing.T, w *world) { w.config.HostSigns = true },
		"by a key": func(t *testing.T, w *world) {
			if _, err := exec.LookPath("ssh-keygen"); err != nil {
				t.Skip("needs ssh-keygen")
			}
			path := filepath.Join(t.TempDir(), "key")
			if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if w.config.Sign, err = git.NewSigner(string(raw)); err != nil {
				t.Fatal(err)
			}
			w.host.AddUser(githubsim.User{Login: "bot", Token: "ghp_bot", Email: "bot@example.com", SigningKey: w.config.Sign.Public()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			sign(t, w)
			if err := w.db.Close(); err != nil {
				t.Fatal(err)
			}
			w.start(t)
			if err := w.host.Protect("acme/gitops", "main", githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, Signed: true, Ruleset: true}); err != nil {
				t.Fatal(err)
			}
			if err := w.host.Demand("acme/gitops", "reconcile/", githubsim.Demand{Signed: true}); err != nil {
				t.Fatal(err)
			}
			w.open(t)
			if r := w.approve(t, w.decide(t, Adopt).Digest, bob); r.Failure != nil {
				t.Fatalf("%+v", r.Failure)
			}
			w.allow(t)
			r := w.finish(t)
			if r.Outcome != "adopted" {
				t.Fatalf("ended %q: %+v, %+v", r.Outcome, r.Failure, r.Wait)
			}
			pull := w.host.Pulls("acme/gitops")[0]
			if good, why := w.host.Verified("acme/gitops", pull.HeadSHA); !good {
				t.Errorf("the commit is not verified: %s", why)
			}
			if !strings.HasPrefix(pull.Head, "reconcile/") {
				t.Errorf("it was made on %s", pull.Head)
			}
		})
	}
}
