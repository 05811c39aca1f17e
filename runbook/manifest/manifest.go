// Package manifest finds where a value lives in a Git tree, edits it there,
// and proves by rendering that the edit does what was asked and nothing else.
//
// It must never re-encode a file: an edit replaces the bytes of one value and
// every other byte of the file stays as it was. It must never return an edit
// that it has not proven, never read outside of the tree it was given, and
// never reach for the network or another program.
//
// Why guess and prove: which line supplies a value is, in general, not
// knowable from the rendered object. So finding the line may guess, and only
// rendering the tree before and after the edit decides. A wrong guess costs a
// refusal, never a wrong commit.
package manifest

import (
	"io/fs"
	"strings"
)

// Tree is a tree in Git, or a directory that holds what one would hold.
// Symbolic links are followed where Argo CD follows them, within the tree,
// and only if the file system can read them (fs.ReadLinkFS).
type Tree = fs.FS

// Object names one Kubernetes object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is empty for objects that live in none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is kind/name, with the namespace in front if there is one.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + "/" + o.Name
	}
	return o.Namespace + "/" + o.Kind + "/" + o.Name
}

// Group is the API group; empty for the core group.
func (o Object) Group() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// Op is what is to happen to a field.
type Op string

// The operations. Set changes a value that Git has, Add gives one that Git
// has not, Remove takes one away.
const (
	Set    Op = "set"
	Add    Op = "add"
	Remove Op = "remove"
)

// Change is one field of one object that is to be in Git as it is live.
type Change struct {
	Object Object `json:"object"`
	Path   Path   `json:"path"`
	Op     Op     `json:"op"`
	// Git and Live are decoded JSON values; nil means absent.
	Git  any `json:"git,omitempty"`
	Live any `json:"live,omitempty"`
}

// Source is a directory of a tree, as one Argo CD Application renders it.
type Source struct {
	// Name is what people call it, such as the Application's name.
	Name string `json:"name"`
	// Dir is the directory's path in the tree; "" or "." is its root.
	Dir string `json:"dir"`
	// Recurse, Include and Exclude are the Application's directory options.
	Recurse bool   `json:"recurse,omitempty"`
	Include string `json:"include,omitempty"`
	Exclude string `json:"exclude,omitempty"`
	// Namespace is where objects go that name no namespace.
	Namespace string `json:"namespace,omitempty"`
	// Kustomize holds the Application's options for Kustomize. They are read
	// from Manifest instead, if that is set.
	Kustomize *KustomizeOptions `json:"kustomize,omitempty"`
	// Helm holds the Application's options for Helm, and makes the source a
	// chart. They are read from Manifest instead, if that is set.
	Helm *HelmOptions `json:"helm,omitempty"`
	// Release tells that Manifest holds a HelmRelease of Flux, which is where
	// all options are read from.
	Release bool `json:"release,omitempty"`
	// App is the Application's name, if Name is not it.
	App string `json:"app,omitempty"`
	// Refs are the other sources of the Application, by the name under which
	// values files refer to them: empty for one that is this tree, else what
	// it is instead, such as "another repository".
	Refs map[string]string `json:"refs,omitempty"`
	// KubeVersion and APIVersions are the cluster's, as a chart sees them.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Manifest is the file in the tree that holds the Application, if it is
	// known: what the Application sets itself can be edited there.
	Manifest string `json:"manifest,omitempty"`
	// Unsupported says why this source can't be rendered here, such as "a
	// Helm chart"; empty if it can.
	Unsupported string `json:"unsupported,omitempty"`
	// Reads lists files and directories outside of Dir that an unsupported
	// source reads too, such as the values files of a Helm release.
	Reads []string `json:"reads,omitempty"`
}

// Request asks for edits that make changes true in Git.
type Request struct {
	Tree   Tree
	Target Source
	// Consumers are all other sources that are rendered from the same tree;
	// an edit must not change any of them. The target may be among them.
	Consumers []Source
	// Accepted names consumers that can't be rendered here and that a person
	// has agreed to leave unproven.
	Accepted []string
	Changes  []Change
	// Structure allows to add and take away whole keys and list items, and
	// not values alone.
	Structure bool
	Limits    Limits
	// Index, if there is one, saves finding out again what is known of the
	// tree.
	Index *Index
}

// Proposal is the answer: edits that are proven together, and a verdict for
// every change asked for, in the order asked.
type Proposal struct {
	Edits   []Edit    `json:"edits,omitempty"`
	Changes []Verdict `json:"changes"`
	Proof   Proof     `json:"proof"`
}

// Edit is one file, changed.
type Edit struct {
	// File is the path in the tree, Line the first line that changes,
	// counted from 1 in the file as it was.
	File string `json:"file"`
	Line int    `json:"line"`
	// Before and After are the lines that change, without those around them.
	Before string `json:"before"`
	After  string `json:"after"`
	// Content is the whole file after the edit.
	Content []byte `json:"content"`
	// Created and Deleted tell that the file is new, or goes away.
	Created bool `json:"created,omitempty"`
	Deleted bool `json:"deleted,omitempty"`
	// Digest is the SHA-256 of the file before the edit, in hex; empty for a
	// new one.
	Digest string `json:"digest"`
	// Unified is the change as a unified diff.
	Unified string `json:"patch"`
}

// Patch is the change as a unified diff that `git apply` takes.
func (e Edit) Patch() string { return e.Unified }

// Verdict is what became of one change.
type Verdict struct {
	Change
	// Proven is true if Edits holds this change and rendering shows it.
	Proven bool `json:"proven"`
	// Class, Why and Hint say why not, and what a person can do. A proven
	// change may carry a Hint too, such as that a robot owns the value.
	Class Class  `json:"class,omitempty"`
	Why   string `json:"why,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// File and Line are where the value lives, also for a refused change if
	// it was found. Layer says what kind of source that is.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Layer string `json:"layer,omitempty"`
}

// Proof says what was rendered, and what rendering showed.
type Proof struct {
	// Renderer names what rendered.
	Renderer  string    `json:"renderer"`
	Target    Rendered  `json:"target"`
	Consumers Consumers `json:"consumers"`
	// ReadFiles are all files that the proof rests on, by path, with the
	// SHA-256 of their content before the edit in hex.
	ReadFiles map[string]string `json:"readFiles,omitempty"`
}

// Rendered compares the target's objects before and after the edits.
type Rendered struct {
	// Before and After are digests of all rendered objects.
	Before string `json:"before"`
	After  string `json:"after"`
	// Differences counts the changes that are asked for and still differ
	// from live after the edits, and everything that moved unasked.
	Differences int `json:"differences"`
	// Derived says what the edits change of necessity, such as the name of a
	// generated ConfigMap, which holds a hash of its content.
	Derived []string `json:"derived,omitempty"`
	// Unexpected names what moved unasked. Edits that would cause any are
	// left out, so that it is empty unless there is a defect.
	Unexpected []string `json:"unexpected,omitempty"`
}

// Consumers says what happens to those who read the same tree.
type Consumers struct {
	// Checked counts the sources of which it is known what they read.
	Checked int `json:"checked"`
	// Changed names those that the edits would change.
	Changed []string `json:"changed,omitempty"`
	// Unbuildable are those that may read an edited file and can't be
	// rendered here.
	Unbuildable []Unbuildable `json:"unbuildable,omitempty"`
}

// Unbuildable is a source that can't be rendered here, and why.
type Unbuildable struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}
