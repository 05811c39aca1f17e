package manifest

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// isWhole tells whether a change is one of an object as a whole.
func (c Change) isWhole() bool { return len(c.Path) == 0 }

// guardWhole refuses whole objects that people do not write.
func guardWhole(c Change, structure bool) *Refusal {
	live, isMap := c.Live.(map[string]any)
	switch {
	case !structure, c.Op == Set, c.Op == Add && !isMap:
		return refuse(Structure, "Add or delete the manifest by hand.", "whole objects can't be written back here")
	case c.Op == Remove:
		return nil
	}
	meta, _ := live["metadata"].(map[string]any)
	if owners, _ := meta["ownerReferences"].([]any); len(owners) > 0 {
		return refuse(NotForGit, "Change what owns it.", "%s is made and kept by another object", c.Object)
	}
	return nil
}

// forGit is a live object as a manifest states it: without what the cluster
// keeps for itself.
func forGit(live map[string]any) map[string]any {
	out, _ := clone(live).(map[string]any)
	delete(out, "status")
	meta, _ := out["metadata"].(map[string]any)
	kept := map[string]any{}
	for _, key := range []string{"name", "namespace", "labels", "annotations", "finalizers"} {
		if v, ok := meta[key]; ok {
			kept[key] = v
		}
	}
	annotations, _ := kept["annotations"].(map[string]any)
	maps.DeleteFunc(annotations, func(key string, _ any) bool {
		return isClusterOwn(Path{Key("metadata"), Key("annotations"), Key(key)})
	})
	if len(annotations) == 0 {
		delete(kept, "annotations")
	}
	out["metadata"] = kept
	spec, _ := out["spec"].(map[string]any)
	switch out["kind"] {
	case "Service":
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	case "PersistentVolumeClaim":
		delete(spec, "volumeName")
	}
	return out
}

// writeObject writes an object as a file.
func writeObject(object map[string]any) []byte {
	var pairs []pair
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		pairs = append(pairs, pair{key, object[key]})
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "apiVersion" && key != "kind" && key != "metadata" {
			pairs = append(pairs, pair{key, object[key]})
		}
	}
	return []byte(strings.Join(writePairs(pairs), "\n") + "\n")
}

// newFile is a file in a directory for an object, with a name that is free.
func (q *question) newFile(dir string) write {
	o := q.change.Object
	live, _ := q.change.Live.(map[string]any)
	name := strings.ToLower(o.Kind) + "-" + strings.NewReplacer(":", "-", "/", "-").Replace(o.Name)
	file := path.Join(dir, name+".yaml")
	for i := 2; q.files.exists(file); i++ {
		file = path.Join(dir, fmt.Sprintf("%s-%d.yaml", name, i))
	}
	return write{file, writeObject(forGit(live))}
}

// without is a file without the document that begins, or goes on, in a line;
// nil if it then holds none.
func (t *text) without(line int) ([]byte, *Refusal) {
	if len(t.docs) == 1 {
		return nil, nil
	}
	starts := []int{0}
	for _, at := range lineStarts(t.content) {
		rest := t.content[at:]
		if at > 0 && bytes.HasPrefix(rest, []byte("---")) && (len(rest) == 3 || bytes.ContainsAny(rest[3:4], " \t\r\n")) {
			starts = append(starts, at)
		}
	}
	starts = append(starts, len(t.content))
	at := t.lines[line-1]
	for i := 0; i+1 < len(starts); i++ {
		if at < starts[i] || at >= starts[i+1] {
			continue
		}
		content := slices.Concat(t.content[:starts[i]], t.content[starts[i+1]:])
		return content, t.verifyWithout(line, content)
	}
	return nil, refuse(Unreadable, byHand, "where the document in line %d ends can't be told", line)
}

// verifyWithout tells whether nothing but one document is gone.
func (t *text) verifyWithout(line int, content []byte) *Refusal {
	after := parseText(content)
	gone := slices.IndexFunc(t.docs, func(n *yaml.Node) bool { return n.Line == line })
	same := after.err == nil && gone >= 0 && len(after.docs) == len(t.docs)-1
	for i := 0; same && i < len(after.docs); i++ {
		before := t.docs[i]
		if i >= gone {
			before = t.docs[i+1]
		}
		same = sameNodes(before, after.docs[i], nil, "")
	}
	if !same {
		return refuse(ProofFailed, byHand, "the edit would change more in the file than the one document")
	}
	return nil
}

// judgeWhole holds a rendering against what it is to be with one object more
// or less.
func (p *proposer) judgeWhole(after []Resource, i int, c Change) *Refusal {
	want := slices.Clone(p.rendered)
	if c.Op == Remove {
		want = slices.Delete(want, i, i+1)
	} else {
		live, _ := c.Live.(map[string]any)
		j := slices.IndexFunc(after, func(r Resource) bool { return p.is(r.Object(), c.Object) })
		if j < 0 {
			return refuse(ProofFailed, byHand, "after the edit, rendering does not show %s", c.Object)
		}
		object := forGit(live)
		if after[j].Object().Namespace == "" && c.Object.Namespace == p.req.Target.Namespace {
			delete(object["metadata"].(map[string]any), "namespace")
		}
		want = slices.Insert(want, min(j, len(want)), Resource{Content: object})
	}
	for _, m := range differences(want, after) {
		return refuse(TouchesOthers, byHand, "the edit would change %s too", name(after, m))
	}
	return nil
}

// renamed are the names of the rendered objects with one more or less.
func (p *proposer) renamed(after []Resource, i int, c Change) []Object {
	names := slices.Clone(p.names)
	if c.Op == Remove {
		return slices.Delete(names, i, i+1)
	}
	j := slices.IndexFunc(after, func(r Resource) bool { return p.is(r.Object(), c.Object) })
	return slices.Insert(names, j, after[j].Object())
}

// suggestWhole edits plain manifests.
func (plainRenderer) suggestWhole(q *question) (*Refusal, error) {
	q.found.layer = "plain YAML"
	if q.change.Op == Add {
		dir, err := cleanDir(q.source.Dir)
		if err != nil {
			return nil, err
		}
		w := q.newFile(dir)
		q.found.file, q.found.line = w.file, 1
		return q.try(suggestion{origin: q.found, writes: []write{w}})
	}
	r := q.object()
	q.found.file = r.File
	t, err := q.files.parsed(r.File)
	if err != nil {
		return nil, err
	}
	root, err := nodeOf(t, r)
	if err != nil {
		return refuse(Unreadable, byHand, "%s can't be edited: %v", r.File, err), nil
	}
	q.found.line = root.Line
	if r := guardFile(q.found.file, t, root); r != nil {
		return r, nil
	}
	if r.item >= 0 {
		return refuse(Structure, "Take it out of the list by hand.", "%s is an item of a list", q.change.Object), nil
	}
	content, refusal := t.without(root.Line)
	if refusal != nil {
		return refusal, nil
	}
	return q.try(suggestion{origin: q.found, writes: []write{{r.File, content}}})
}

// whole adds an object to the target's kustomization, or takes one out.
func (s *search) whole() (bool, error) {
	d, own := s.target()
	if !own {
		return false, nil
	}
	if s.change.Op == Add {
		w := s.newFile(path.Dir(d.file))
		content, _, r := d.append("resources", []string{path.Base(w.file)})
		if r != nil {
			s.refusals = append(s.refusals, r)
			return false, nil
		}
		return s.attempt(suggestion{origin: origin{w.file, 1, d.layer + " manifest"}, writes: []write{w, {d.file, content}}})
	}
	for _, step := range []func() (bool, error){s.dropDocument, s.dropByPatch} {
		if done, err := step(); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// dropDocument takes the manifest out of its file, and the file out of the
// kustomization if nothing else is in it.
func (s *search) dropDocument() (bool, error) {
	for _, d := range s.docs {
		if !d.isOf(s.change.Object) || d.isPatch() || d.isKustomization() || d.outer != nil {
			continue
		}
		content, r := d.t.without(d.root.Line)
		if r != nil {
			s.refusals = append(s.refusals, r)
			continue
		}
		e := suggestion{origin: origin{d.file, d.root.Line, d.layer}, writes: []write{{d.file, content}}}
		if content == nil {
			w, ok := s.unlist(d.file)
			if !ok {
				continue
			}
			e.writes = append(e.writes, w)
		}
		if done, err := s.attempt(e); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// unlist takes a file out of the resources of the kustomization that names
// it.
func (s *search) unlist(file string) (write, bool) {
	for _, d := range s.docs {
		if !d.isKustomization() {
			continue
		}
		for i, n := range contentOf(child(d.root, "resources")) {
			if path.Join(path.Dir(d.file), resolve(n).Value) != file {
				continue
			}
			e, r := d.t.edit(d.file, d.root, Change{Path: Path{Key("resources"), At(i)}, Op: Remove}, true)
			return write{d.file, e.content}, r == nil
		}
	}
	return write{}, false
}

// dropByPatch has the target's kustomization drop an object of a base.
func (s *search) dropByPatch() (bool, error) {
	d, _ := s.target()
	o := s.object().Object()
	for _, name := range s.names() {
		body := writePairs([]pair{{"$patch", "delete"}, {"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"metadata", map[string]any{"name": name}}})
		if done, err := s.addPatch(d, name, body); done || err != nil {
			return done, err
		}
	}
	return false, nil
}
