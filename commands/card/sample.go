package card

import (
	"encoding/json"
	"fmt"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/book"
	"reconcilebot/runbook/drift"
	"reconcilebot/runbook/forge"
	"reconcilebot/runbook/git"
	"reconcilebot/runbook/manifest"
	"reconcilebot/state"
)

// sample is the story that the gallery tells: alice scaled a Deployment by
// hand at 14:02.
type sample struct {
	Facts
	at func(minute int) time.Time
}

func person(name string) state.Person {
	return state.Person{ID: "U" + name, Name: name, GitHub: name, Kubernetes: []string{name + "@example.com"}}
}

func newSample(minute int) *sample {
	at := func(m int) time.Time { return time.Date(2026, 3, 14, 14, m, 0, 0, time.UTC) }
	s := &sample{at: at}
	s.Now = at(minute)
	s.Links = Links{Commit: func(repo forge.Repo, sha string) string {
		return fmt.Sprintf("https://github.example.com/%s/commit/%s", repo, sha)
	}, Audit: func(id string) string { return "https://logs.example.com/?q=" + id }}
	s.Run = state.Reconciliation{
		ID: "r-01JPAYMENTS", Rev: 3, Incident: "INC-1234", Room: "C1", Target: "production-eu/argocd/payments-web",
		Opened: at(6), OpenedBy: person("alice"), Book: "survey", BookVersion: 1,
	}
	s.Steps = []state.StepID{"survey"}
	return s
}

// leave stores what a step leaves behind.
func (s *sample) leave(step state.StepID, v any) *sample {
	raw, err := json.Marshal(v)
	if err != nil { // the samples are fixed and encode
		raw = []byte("null")
	}
	if s.Run.Steps == nil {
		s.Run.Steps = map[state.StepID]state.Step{}
	}
	s.Run.Steps[step] = state.Step{Started: s.Now, Finished: s.Now, Result: raw}
	return s
}

func path(text string) manifest.Path {
	p, err := manifest.ParsePath(text)
	if err != nil { // the samples' paths are fixed and parse
		return manifest.Path{manifest.Key(text)}
	}
	return p
}

func web() manifest.Object {
	return manifest.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "payments", Name: "web"}
}

func (s *sample) scaled() drift.Change {
	return drift.Change{
		Object: web(), UID: "5be1", Path: path("spec.replicas"), Op: manifest.Set, Git: float64(3), Live: float64(6),
		Evidence: drift.Evidence{Kind: drift.ByAudit, Person: "alice@example.com", Tool: "kubectl scale", At: s.at(2), AuditID: "5be1c0de"},
		Outlook:  drift.Outlook{Kind: drift.NextCommit, Text: "it stays until the next commit on main, which will put it back to 3. Self-heal is off."},
	}
}

func (s *sample) drift(changes ...drift.Change) drift.Drift {
	return drift.Drift{
		Target: drift.Target{Cluster: "production-eu", Kind: drift.Application, Namespace: "argocd", Name: "payments-web"},
		Sync:   "OutOfSync", Health: "Healthy", Automated: argocd.Automated{Present: true, Enabled: true},
		Revision: "1111111aaaa", TargetRevision: "main", RepoURL: "https://github.example.com/acme/gitops.git", Path: "overlays/prod",
		Changes: changes,
		Noise:   []drift.Noise{{Why: "owned by the autoscaler", Count: 2}, {Why: "defaults", Count: 14}},
		Digest:  "d1f7", SeenAt: s.at(6), URL: "https://argocd.example.com/applications/argocd/payments-web",
	}
}

const fileURL = "https://github.example.com/acme/gitops/blob/1111111/overlays/prod/deployment.yaml#L9"

func (s *sample) place() book.Place {
	return book.Place{File: "overlays/prod/deployment.yaml", Line: 9, URL: fileURL,
		Last: git.Commit{SHA: "c0ffee1", AuthorName: "dana", When: s.Now.AddDate(0, -5, -3)}}
}

func (s *sample) seen(changes ...drift.Change) *sample {
	seen := book.Seen{Drift: s.drift(changes...), Branch: "main", Head: "1111111aaaa"}
	for range changes {
		seen.Places = append(seen.Places, s.place())
	}
	return s.leave("survey", seen)
}

// also changes what the first look found.
func (s *sample) also(edit func(*drift.Drift)) *sample {
	seen, _ := book.SeenIn(s.Run)
	edit(&seen.Drift)
	return s.leave("survey", seen)
}

func (s *sample) decided(b state.BookName) *sample {
	s.Run.Book = b
	s.Run.Decision = state.Decision{By: person("alice"), Reason: "checkout queue backing up, 3 pods saturated", At: s.at(7)}
	s.Steps = []state.StepID{"survey", "plan", "approve", "recheck", "push", "render", "pull-request", "merge", "refresh", "sync", "verify", "settle", "record"}
	if b == book.Revert {
		s.Steps = []state.StepID{"survey", "plan", "approve", "recheck", "sync", "verify", "settle", "record"}
	}
	return s.seen(s.scaled())
}

// asked is a change that is asked for through Git.
func (s *sample) asked() *sample {
	s.decided(book.Change)
	s.Run.Decision.Reason = "checkout queue is backing up and needs more pods"
	return s.seen()
}

func (s *sample) plan() book.Plan {
	p := book.Plan{
		Seen: book.Seen{Drift: s.drift(s.scaled()), Places: []book.Place{s.place()}, Branch: "main", Head: "1111111aaaa"},
		Needs: book.Needs{
			Approvals: 1, From: []string{"@payments-owners", "@platform"}, Expires: s.at(37),
			Excluded: []book.Excluded{{Name: "alice", Why: "asked for it and made the change"}},
		},
		Made: s.at(7), Digest: "3f9c1e77aa",
	}
	if s.Run.Book == book.Revert {
		p.Actions = []book.Action{{Kind: "sync", Objects: []manifest.Object{web()}, Text: "Argo CD syncs Deployment payments/web and nothing else; nothing is pruned"}}
		return p
	}
	if s.Run.Book == book.Change {
		p.Seen.Drift.Changes[0].Evidence = drift.Evidence{Kind: drift.Asked}
		p.Tried, p.Needs.Excluded = "the API server takes it, as a dry run shows", []book.Excluded{{Name: "alice", Why: "asked for it"}}
	}
	p.Edits = []manifest.Edit{{File: "overlays/prod/deployment.yaml", Line: 9, Before: "  replicas: 3\n", After: "  replicas: 6\n"}}
	p.Proof = manifest.Proof{Renderer: "plain YAML", Consumers: manifest.Consumers{Checked: 41}}
	p.Repo, p.Base, p.Branch = forge.Repo{Owner: "acme", Name: "gitops"}, "1111111aaaa", "main"
	p.Needs.Rules = forge.Rules{Protected: true, Reviews: 1, CodeOwnerReviews: true, Checks: []string{"validate", "policy"}, Readable: true}
	p.Needs.Owners = []string{"@acme/payments"}
	return p
}

func (s *sample) planned() *sample { return s.leave("plan", s.plan()) }

func (s *sample) vote(who string, yes bool, minute int) *sample {
	s.Run.Votes = append(s.Run.Votes, state.Vote{By: person(who), Yes: yes, Digest: s.plan().Digest, At: s.at(minute)})
	return s
}

func (s *sample) approved() *sample {
	s.vote("bob", true, 9)
	return s.leave("approve", book.Approval{Votes: s.Run.Votes, At: s.at(9)}).leave("recheck", book.Checked{At: s.at(9)})
}

func (s *sample) pushed() *sample {
	return s.leave("push", book.Pushed{Branch: "reconcile/INC-1234/payments-web-yments", SHA: "7c1d2e3f00", Base: "1111111aaaa"}).
		leave("render", book.Rendered{SHA: "7c1d2e3f00", Objects: 12, By: "Argo CD"})
}

func (s *sample) opened() *sample {
	return s.leave("pull-request", forge.PR{Number: 412, URL: "https://github.example.com/acme/gitops/pull/412", State: "open"})
}

func (s *sample) merged() *sample {
	return s.leave("merge", book.Merged{SHA: "9ab04f1c22", By: "reconcilebot", At: s.at(29), Reviewers: []string{"carol"}}).leave("refresh", nil)
}

func (s *sample) verified(revision string) *sample {
	s.leave("sync", book.Synced{Revision: revision, Needed: s.Run.Book == book.Revert, At: s.at(30)})
	s.leave("verify", book.Verified{Revision: revision, Sync: "Synced", Health: "Healthy", At: s.at(30), Stable: time.Minute})
	return s.leave("settle", book.Verified{Revision: revision, Sync: "Synced", Health: "Healthy", At: s.at(31), Stable: time.Minute}).leave("record", struct{}{})
}

func (s *sample) wait(step state.StepID, what, why string, minute int) *sample {
	s.Run.Wait = &state.Wait{Step: step, For: what, Why: why, Since: s.at(minute), Until: s.at(minute + 1)}
	return s
}

func (s *sample) fail(step state.StepID, say string, minute int) *sample {
	s.Run.Failure = &state.Failure{Step: step, Say: say, At: s.at(minute)}
	return s
}

func (s *sample) close(outcome string, minute int) *sample {
	s.Run.Outcome, s.Run.Closed = outcome, s.at(minute)
	return s
}
