package drift

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"reconcilebot/runbook/argocd"
	"reconcilebot/runbook/manifest"
)

// Drift is the changes of one target, at one revision of Git and at certain
// versions of its objects.
type Drift struct {
	Target
	// Sync and Health are the controller's own words. Synced says nothing
	// about fields that were added by hand.
	Sync      string           `json:"sync"`
	Health    string           `json:"health"`
	Automated argocd.Automated `json:"automated"`
	// Revision is the commit compared with. TargetRevision is what the target
	// follows, such as main.
	Revision       string `json:"revision"`
	TargetRevision string `json:"targetRevision"`
	// Head is the tip of what it follows, where that is known; a Head that is
	// not Revision has not been seen by the controller.
	Head    string `json:"head,omitempty"`
	RepoURL string `json:"repoURL,omitempty"`
	Path    string `json:"path,omitempty"`
	// Changes are what somebody made differ, the riskiest first.
	Changes []Change `json:"changes,omitempty"`
	// Undone are changes that somebody made lately and that the controller has
	// put back since: their Live is what it was, the riskiest first.
	Undone []Change `json:"undone,omitempty"`
	// Own is how the target itself differs from what Parent, the target that
	// declares it, has for it in Git; its outlooks are what Parent does.
	Own    []Change `json:"own,omitempty"`
	Parent string   `json:"parent,omitempty"`
	// Noise is what differs and is nobody's change.
	Noise []Noise `json:"noise,omitempty"`
	// Hiding are rules of the target's that hide what people do by hand, in
	// sentences.
	Hiding []string `json:"hiding,omitempty"`
	// ResourceVersions are those of the changed objects, by object.
	ResourceVersions map[string]string `json:"resourceVersions,omitempty"`
	// Refused says why nothing can be judged; Changes is empty then.
	Refused string `json:"refused,omitempty"`
	// Digest is the same for as long as the same things differ.
	Digest string    `json:"digest"`
	SeenAt time.Time `json:"seenAt"`
	// URL is the target's page.
	URL string `json:"url,omitempty"`
}

// Change is one field of one object that differs, or, with an empty Path, a
// whole object that is missing in the cluster or in Git.
type Change struct {
	Object manifest.Object `json:"object"`
	// UID is the live object's; "" if there is none.
	UID  string        `json:"uid,omitempty"`
	Path manifest.Path `json:"path"`
	// Op is what an adoption does to Git: Add a field that only the cluster
	// has, Remove one that only Git has, Set one that both have.
	Op manifest.Op `json:"op"`
	// Git and Live are decoded JSON values; nil means absent.
	Git  any `json:"git,omitempty"`
	Live any `json:"live,omitempty"`
	// Masked is true where Git and Live are not the values but masks, which
	// must never be written anywhere.
	Masked bool `json:"masked,omitempty"`
	// Invisible is true where Argo CD takes no notice of it: it shows Synced,
	// and no sync removes it.
	Invisible bool     `json:"invisible,omitempty"`
	Evidence  Evidence `json:"evidence"`
	Outlook   Outlook  `json:"outlook"`
}

// EvidenceKind is how we know.
type EvidenceKind string

// The kinds of evidence, the best first. Only the first two can name a
// person.
const (
	// ByAudit is the cluster's audit log.
	ByAudit EvidenceKind = "audit"
	// ByController is the trail that Argo CD keeps of what is done in its UI.
	ByController EvidenceKind = "controller"
	// ByManager is the name that a client gave itself: a tool, not a person.
	ByManager EvidenceKind = "manager"
	// Unknown is that nothing tells.
	Unknown EvidenceKind = "unknown"
	// Asked is that nobody made the change yet: it is asked for, through Git.
	Asked EvidenceKind = "asked"
)

// Evidence is how we know who or what made a change.
type Evidence struct {
	Kind EvidenceKind `json:"kind"`
	// Person is a user name; "" unless the audit log or the controller names
	// one. Service accounts are no persons.
	Person string `json:"person,omitempty"`
	// Tool is such as "kubectl scale".
	Tool string    `json:"tool,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// AuditID is the request in the audit log.
	AuditID string `json:"auditID,omitempty"`
	// Manager is the field manager.
	Manager string `json:"manager,omitempty"`
	// Note is one sentence on what else is to be known.
	Note string `json:"note,omitempty"`
}

// OutlookKind is what the controller will do next.
type OutlookKind string

// The outlooks.
const (
	// SelfHeal is undone at once, as long as self-heal is on.
	SelfHeal OutlookKind = "self-heal"
	// Syncing is undone by a sync that runs or retries now.
	Syncing OutlookKind = "syncing"
	// MovedHead is undone as soon as the controller looks: there is a commit
	// that it has not synced.
	MovedHead OutlookKind = "moved-head"
	// NextCommit stays until the next commit.
	NextCommit OutlookKind = "next-commit"
	// ManualSync stays until somebody syncs.
	ManualSync OutlookKind = "manual-sync"
	// Window is held back by a sync window.
	Window OutlookKind = "window"
	// Kept stays: nothing undoes it.
	Kept OutlookKind = "kept"
	// Halted is a controller that does not look at the target.
	Halted OutlookKind = "halted"
	// Undone is gone from the cluster already, and known from the trail that
	// it left.
	Undone OutlookKind = "undone"
)

// Outlook is what the controller does to a change if nobody acts.
type Outlook struct {
	Kind OutlookKind `json:"kind"`
	// Text is one sentence that goes on from "If nobody acts: ".
	Text string `json:"text"`
}

// Noise is differences that are nobody's change, and why.
type Noise struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
	// Paths are object and path, at most some of them.
	Paths []string `json:"paths,omitempty"`
}

// seal computes the digest.
func (d *Drift) seal() error {
	type field struct {
		UID, Object, Path string
		Op                manifest.Op
		Git, Live         any
	}
	bound := struct {
		Target, Revision, Refused string
		Fields                    []field
	}{d.Target.String(), d.Revision, d.Refused, nil}
	for _, c := range slices.Concat(d.Changes, d.Undone) {
		bound.Fields = append(bound.Fields, field{c.UID, c.Object.String(), c.Path.String(), c.Op, c.Git, c.Live})
	}
	raw, err := json.Marshal(bound)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	d.Digest = hex.EncodeToString(sum[:])
	return nil
}
