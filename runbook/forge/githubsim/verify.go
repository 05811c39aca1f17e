package githubsim

import (
	"errors"
	"os"
	"strings"
)

// verified tells whether a commit's signature is good, and why not if it is
// not: GitHub's own, on what was made through its API, or one by a key that
// its committer registered.
// https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification
func (r *repo) verified(sha string) (good bool, reason string) {
	if r.ours[sha] {
		return true, "valid"
	}
	raw, err := r.git("cat-file", "commit", sha)
	head, _, _ := strings.Cut(raw, "\n\n")
	if err != nil || !strings.Contains(head, "\ngpgsig ") {
		return false, "unsigned"
	}
	committer, err := r.git("show", "--no-patch", "--format=%ce", sha)
	if err != nil {
		return false, "gpgverify_error"
	}
	return r.checkSignature(sha, committer)
}

// allVerified tells whether all commits of a pull request are.
func (r *repo) allVerified(p *pull) bool {
	out, err := r.git("rev-list", p.baseSHA+".."+p.headSHA)
	if err != nil {
		return false
	}
	for sha := range strings.FieldsSeq(out) {
		if good, _ := r.verified(sha); !good {
			return false
		}
	}
	return true
}

// checkSignature has git verify an SSH signature against the keys that the
// committer's account registered.
func (r *repo) checkSignature(sha, committer string) (bool, string) {
	var allowed strings.Builder
	for login, u := range r.sim.users {
		if _, email := r.sim.identity(login); email == committer && u.SigningKey != "" {
			allowed.WriteString(email + " " + u.SigningKey + "\n")
		}
	}
	file, err := os.CreateTemp("", "githubsim-signers-")
	if err != nil {
		return false, "gpgverify_error"
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(allowed.String())
	if errors.Join(err, file.Close()) != nil {
		return false, "gpgverify_error"
	}
	if _, err := r.git("-c", "gpg.ssh.allowedSignersFile="+file.Name(), "verify-commit", sha); err != nil {
		return false, "unknown_key"
	}
	return true, "valid"
}

func (r *repo) verificationJSON(sha string) map[string]any {
	good, reason := r.verified(sha)
	body := map[string]any{"verified": good, "reason": reason, "signature": nil, "payload": nil, "verified_at": nil}
	if good {
		body["verified_at"] = stamp(r.sim.now())
	}
	return body
}

// Verified tells whether GitHub would mark a commit as verified, and why not.
func (s *Sim) Verified(fullName, sha string) (good bool, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return false, err.Error()
	}
	return r.verified(sha)
}
