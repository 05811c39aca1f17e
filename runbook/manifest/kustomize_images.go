package manifest

import (
	"slices"
	"strings"
)

// image is a container's image, taken apart as Kustomize does.
//
// Source: kustomize api v0.17.2, internal/image/image.go, Split.
type image struct{ name, tag, digest string }

func parseImage(text string) image {
	var i image
	i.name, i.digest, _ = strings.Cut(text, "@")
	if at := strings.LastIndex(i.name, ":"); at > strings.LastIndex(i.name, "/") {
		i.name, i.tag = i.name[:at], i.name[at+1:]
	}
	return i
}

// imageChange gives the images before and after, if the change is one of an
// image.
func (s *search) imageChange() (git, live image, ok bool) {
	c := s.change
	if len(c.Path) == 0 || c.Path[len(c.Path)-1].Key != "image" || c.Op == Remove {
		return git, live, false
	}
	now, _, _ := lookup(s.object().Content, c.Path)
	before, okBefore := now.(string)
	after, okAfter := c.Live.(string)
	git, live = parseImage(before), parseImage(after)
	return git, live, okBefore && okAfter && live.name != "" && (live.tag != "" || live.digest != "")
}

// images edits an entry of images, which is stronger than any patch beside
// it.
func (s *search) images() (bool, error) {
	git, live, ok := s.imageChange()
	if !ok {
		return false, nil
	}
	for _, d := range s.docs {
		if !d.isKustomization() {
			continue
		}
		for i, entry := range contentOf(child(d.root, "images")) {
			entry = resolve(entry)
			is := func(key, value string) bool { return value != "" && scalarIs(child(entry, key), value) }
			if !is("name", git.name) && !is("newName", git.name) && !is("newTag", git.tag) && !is("digest", git.digest) {
				continue
			}
			content, r := d.setImage(i, git, live)
			if done, err := s.offer(d, entry.Line, d.layer+" images", "", content, r); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// setImage makes an entry of images give another image.
func (d document) setImage(i int, git, live image) ([]byte, *Refusal) {
	content := d.t.content
	want := map[string]string{"newTag": live.tag, "digest": live.digest}
	if live.name != git.name {
		want["newName"] = live.name
	}
	for _, key := range []string{"newName", "newTag", "digest"} {
		value, set := want[key]
		t := parseText(content)
		if len(t.docs) == 0 || !set {
			continue
		}
		at := Path{Key("images"), At(i), Key(key)}
		now, r := locate(t.docs[0], at)
		if r != nil {
			return nil, r
		}
		c := Change{Path: at, Op: Set, Live: value}
		switch {
		case now.value == nil && value == "" || now.value != nil && resolve(now.value).Value == value:
			continue
		case value == "":
			c.Op, c.Live = Remove, nil
		case now.value == nil:
			c.Op = Add
		}
		e, r := t.edit(d.file, t.docs[0], c, true)
		if r != nil {
			return nil, r
		}
		content = e.content
	}
	return content, nil
}

// newImage adds an entry to the target's images.
func (s *search) newImage() (bool, error) {
	git, live, ok := s.imageChange()
	d, own := s.target()
	if !ok || !own {
		return false, nil
	}
	entry := []pair{{"name", git.name}}
	if live.name != git.name {
		entry = append(entry, pair{"newName", live.name})
	}
	if live.tag != "" {
		entry = append(entry, pair{"newTag", live.tag})
	}
	if live.digest != "" {
		entry = append(entry, pair{"digest", live.digest})
	}
	content, line, r := d.append("images", writePairs(entry))
	return s.offer(d, line, d.layer+" images", "", content, r)
}

// replicas edits an entry of replicas.
func (s *search) replicas() (bool, error) {
	if s.change.Path.String() != "spec.replicas" || s.change.Op == Remove {
		return false, nil
	}
	for _, d := range s.docs {
		if !d.isKustomization() {
			continue
		}
		for i, entry := range contentOf(child(d.root, "replicas")) {
			name := resolve(child(resolve(entry), "name"))
			if name == nil || name.Value == "" || !strings.Contains(s.change.Object.Name, name.Value) {
				continue
			}
			e, r := d.t.edit(d.file, d.root, Change{Path: Path{Key("replicas"), At(i), Key("count")}, Op: Set, Live: s.change.Live}, false)
			if done, err := s.offer(d, e.line, d.layer+" replicas", e.hint, e.content, r); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// newReplicas adds an entry to the target's replicas. A Kustomization and a
// Component have them both.
func (s *search) newReplicas() (bool, error) {
	d, own := s.target()
	if !own || s.change.Path.String() != "spec.replicas" || s.change.Op == Remove {
		return false, nil
	}
	for _, name := range s.names() {
		content, line, r := d.append("replicas", writePairs([]pair{{"name", name}, {"count", s.change.Live}}))
		if done, err := s.offer(d, line, d.layer+" replicas", "", content, r); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// names are what the object may be called where the target's kustomization
// sees it: without its hash, and without what that, and the ones below it,
// put before and behind.
func (s *search) names() []string {
	name := s.object().Object().Name
	if base, ok := generatedName(s.object()); ok {
		name = base
	}
	whole := name
	var list []string
	add := func(n string) {
		if n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if o, err := s.files.options(s.source); err == nil && !o.isEmpty() {
		name = strings.TrimSuffix(strings.TrimPrefix(name, o.NamePrefix), o.NameSuffix)
		add(name)
	}
	for depth := 0; ; depth++ {
		deeper := false
		for _, d := range s.docs {
			if d.depth < depth || !d.isKustomization() {
				continue
			}
			deeper = true
			if d.depth > depth {
				continue
			}
			for _, fix := range []string{"namePrefix", "nameSuffix"} {
				n := resolve(child(d.root, fix))
				if n == nil {
					continue
				}
				if fix == "namePrefix" {
					name = strings.TrimPrefix(name, n.Value)
				} else {
					name = strings.TrimSuffix(name, n.Value)
				}
			}
		}
		add(name)
		add(whole)
		if !deeper {
			return list
		}
	}
}
