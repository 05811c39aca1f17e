package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestGitVerifiesTheSignature signs with keys made by OpenSSH and GnuPG, and
// has git verify it by those programs.
func TestGitVerifiesTheSignature(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string) (key string, verify []string){
		"ssh-ed25519": func(t *testing.T, dir string) (string, []string) { return sshKey(t, dir, "ed25519") },
		"ssh-rsa":     func(t *testing.T, dir string) (string, []string) { return sshKey(t, dir, "rsa") },
		"gpg":         gpgKey,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			r.load(history)
			repo := r.open(t.TempDir())
			dir := t.TempDir()
			key, verify := make(t, dir)
			signer, err := NewSigner(key)
			if err != nil {
				t.Fatal(err)
			}
			base, _, err := repo.Branch(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			bot := Person{"reconcilebot", "bot@example.com"}
			request := CommitRequest{
				Base: base, Edits: map[string][]byte{"bin/run": []byte("new\n"), "new.txt": []byte("1\n")}, Delete: []string{"other.txt"},
				Message: "scale\n\nFor: a reason", Author: bot, Committer: bot, When: when, Sign: signer,
			}
			sha, err := repo.Commit(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := repo.Commit(t.Context(), request); err != nil || again != sha {
				t.Errorf("made again it is %s, not %s: %v", again, sha, err)
			}
			if err := repo.Push(t.Context(), sha, "signed"); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "git", append(append([]string{"--git-dir=" + r.dir}, verify...), "log", "--show-signature", "-1", sha)...)
			cmd.Env = append(os.Environ(), "GNUPGHOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Good ") {
				t.Errorf("git says: %s (%v)", out, err)
			}
			files, tree, err := repo.Written(t.Context(), sha)
			if err != nil || tree != r.at("rev-parse", sha+"^{tree}") || len(files) != 3 ||
				files[0].Mode != "100755" || string(files[0].Content) != "new\n" || files[1].Mode != "100644" || files[2].Mode != "" {
				t.Errorf("it wrote %+v in %s, %v", files, tree, err)
			}
			if !plumbing.IsHash(sha) {
				t.Errorf("%s is no SHA", sha)
			}
		})
	}
}

func sshKey(t *testing.T, dir, kind string) (string, []string) {
	path := filepath.Join(dir, "key")
	run(t, "ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "bot", "-f", path)
	public, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(dir, "allowed")
	if err := os.WriteFile(allowed, append([]byte("bot@example.com "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	return read1(t, path), []string{"-c", "gpg.ssh.allowedSignersFile=" + allowed}
}

func gpgKey(t *testing.T, dir string) (string, []string) {
	home := []string{"--homedir", dir, "--batch", "--pinentry-mode", "loopback", "--passphrase", ""}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), "gpgconf", "--homedir", dir, "--kill", "all").Run()
	})
	// Older than the commit that it signs.
	run(t, "gpg", append(home, "--faked-system-time", "20200101T000000", "--quick-generate-key", "bot <bot@example.com>", "rsa2048", "sign", "never")...)
	return run(t, "gpg", append(home, "--armor", "--export-secret-keys")...), nil
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("needs %s", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

func read1(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestKeysThatAreNotTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "locked")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "hidden-words", "-f", path)
	ecdsa := filepath.Join(dir, "ecdsa")
	run(t, "ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", ecdsa)
	for name, tt := range map[string]struct{ key, want string }{
		"with a passphrase":     {read1(t, path), "has a passphrase"},
		"of a kind that varies": {read1(t, ecdsa), "ssh-keygen -t ed25519"},
		"a text":                {"hidden", "neither an SSH nor an OpenPGP"},
		"a broken PGP key":      {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nhidden", "no OpenPGP private key"},
	} {
		if _, err := NewSigner(tt.key); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
