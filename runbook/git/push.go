package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Push creates a branch at a commit. If the branch is there with that commit,
// that is success, so that a push can be repeated after a crash; with another
// commit it is a *Conflict and the branch is left alone.
//
// Why not the library's own push: it moves a branch forward that somebody
// else made in the meantime. Here the remote itself is told that the branch
// must not exist yet, and checks it as it writes.
func (r *Repo) Push(ctx context.Context, sha, branch string) error {
	return r.command(ctx, branch, "", sha)
}

// DeleteBranch deletes a branch if it is at the expected commit. A branch
// that is gone already is success; one that has moved is a *Conflict.
func (r *Repo) DeleteBranch(ctx context.Context, branch, expectSHA string) error {
	if !plumbing.IsHash(expectSHA) {
		return fmt.Errorf("delete branch %s: %.60q is not a full commit SHA", branch, expectSHA)
	}
	return r.command(ctx, branch, expectSHA, "")
}

// command moves a branch from one commit to another; "" means no branch.
func (r *Repo) command(ctx context.Context, branch, from, to string) error {
	name := plumbing.NewBranchReferenceName(branch)
	if err := name.Validate(); err != nil || branch == "" || strings.HasPrefix(branch, "-") {
		return fmt.Errorf("push: %.100q can't be the name of a branch", branch)
	}
	ctx, cancel := r.bounded(ctx, "push to")
	defer cancel()
	session, token, err := r.session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return r.explain(ctx, "push to", token, err)
	}
	have := ""
	if hash, ok := refs.References[name.String()]; ok {
		have = hash.String()
	}
	switch {
	case have == to:
		return nil
	case have != from:
		return &Conflict{Branch: branch, Want: want(from, to), Have: have}
	}
	req, err := r.update(refs, name, from, to)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	req.Progress = &said
	report, err := session.ReceivePack(ctx, req)
	if status := refusal(report); status != "" {
		return &Rejected{Branch: branch, Reason: clean(errors.New(status+words(said.String())), token).Error()}
	}
	return r.explain(ctx, "push to", token, err)
}

// words makes one line of what the remote's hooks printed.
func words(said string) string {
	if said = strings.Join(strings.Fields(said), " "); said == "" {
		return ""
	}
	return " (" + said + ")"
}

func want(from, to string) string {
	if to != "" {
		return to
	}
	return from
}

func (r *Repo) session(ctx context.Context) (transport.ReceivePackSession, string, error) {
	auth, token, err := r.auth(ctx)
	if err != nil {
		return nil, "", err
	}
	to, err := transport.NewEndpoint(r.config.URL)
	if err != nil {
		return nil, "", fmt.Errorf("read the address %s: %w", r.config.URL, err)
	}
	to.CaBundle = r.config.CABundle
	session, err := githttp.DefaultClient.NewReceivePackSession(to, auth)
	if err != nil {
		return nil, "", fmt.Errorf("prepare to push to %s: %w", r.config.URL, clean(err, token))
	}
	return session, token, nil
}

// update is the message that asks the remote to move the branch, with all
// objects that it has not.
func (r *Repo) update(refs *packp.AdvRefs, name plumbing.ReferenceName, from, to string) (*packp.ReferenceUpdateRequest, error) {
	req := packp.NewReferenceUpdateRequestFromCapabilities(refs.Capabilities)
	if refs.Capabilities.Supports(capability.Sideband64k) {
		if err := req.Capabilities.Set(capability.Sideband64k); err != nil {
			return nil, err
		}
	}
	req.Commands = []*packp.Command{{Name: name, Old: plumbing.NewHash(from), New: plumbing.NewHash(to)}}
	if to == "" {
		return req, nil
	}
	pack, err := r.pack(refs, to)
	if err != nil {
		return nil, fmt.Errorf("gather what %s lacks of commit %s: %w", r.config.URL, to, err)
	}
	req.Packfile = pack
	return req, nil
}

// pack gathers the objects of a commit that the remote does not say it has.
func (r *Repo) pack(refs *packp.AdvRefs, sha string) (*packReader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.commit(sha); err != nil {
		return nil, err
	}
	var there []plumbing.Hash
	for _, hash := range refs.References {
		if r.repo.Storer.HasEncodedObject(hash) == nil {
			there = append(there, hash)
		}
	}
	hashes, err := revlist.Objects(r.repo.Storer, []plumbing.Hash{plumbing.NewHash(sha)}, there)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := packfile.NewEncoder(&out, r.repo.Storer, false).Encode(hashes, 0); err != nil {
		return nil, err
	}
	return &packReader{bytes.NewReader(out.Bytes())}, nil
}

// packReader is a pack in memory: what is pushed is a few small files.
type packReader struct{ *bytes.Reader }

func (*packReader) Close() error { return nil }

// refusal is why the remote did not move the branch; "" if it did.
func refusal(report *packp.ReportStatus) string {
	if report == nil {
		return ""
	}
	for _, s := range report.CommandStatuses {
		if s.Status != "ok" {
			return s.Status
		}
	}
	if report.UnpackStatus != "ok" {
		return report.UnpackStatus
	}
	return ""
}
