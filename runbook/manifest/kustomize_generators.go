package manifest

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// generator is an entry of configMapGenerator that may make the object.
type generator struct {
	document
	entry *yaml.Node
	index int
	name  string
}

// at is the path to a field of the entry.
func (g generator) at(steps ...Elem) Path {
	return append(Path{Key("configMapGenerator"), At(g.index)}, steps...)
}

// generated lists the generators of the object, the nearest to the target
// first, and the key of its data that changes.
func (s *search) generated() (list []generator, key string) {
	c := s.change
	if c.Object.Kind != "ConfigMap" || len(c.Path) != 2 || c.Path[0].Key != "data" || c.Path[1].Key == "" {
		return nil, ""
	}
	if _, ok := c.Live.(string); !ok && c.Op != Remove {
		return nil, ""
	}
	for _, d := range s.docs {
		if !d.isKustomization() {
			continue
		}
		for i, entry := range contentOf(child(d.root, "configMapGenerator")) {
			entry = resolve(entry)
			if name := resolve(child(entry, "name")); name != nil && name.Value != "" && strings.Contains(c.Object.Name, name.Value) {
				list = append(list, generator{d, entry, i, name.Value})
			}
		}
	}
	return list, c.Path[1].Key
}

// generators edits what a generated ConfigMap is generated from.
func (s *search) generators() (bool, error) {
	list, key := s.generated()
	for _, g := range list {
		for _, step := range []func(generator, string) (bool, error){s.literal, s.file, s.environment, s.literalMore} {
			if done, err := step(g, key); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// literal edits or takes away an entry of literals.
func (s *search) literal(g generator, key string) (bool, error) {
	for i, n := range contentOf(child(g.entry, "literals")) {
		have, _, ok := strings.Cut(resolve(n).Value, "=")
		if !ok || have != key {
			continue
		}
		at := g.at(Key("literals"), At(i))
		c := Change{Path: at, Op: Set, Live: s.literalText(key)}
		if s.change.Op == Remove {
			c = Change{Path: at, Op: Remove}
		}
		e, r := g.t.edit(g.document.file, g.root, c, s.structure)
		if done, err := s.offer(g.document, e.line, g.layer+" generator", e.hint, e.content, r); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (s *search) literalText(key string) string {
	value, _ := s.change.Live.(string)
	return key + "=" + value
}

// literalMore adds a key that the generator does not have.
func (s *search) literalMore(g generator, key string) (bool, error) {
	if _, _, found := lookup(s.object().Content, s.change.Path); found || s.change.Op == Remove || !s.structure {
		return false, nil
	}
	text := s.literalText(key)
	c := Change{Path: g.at(Key("literals"), Item("", text)), Op: Add, Live: text}
	if child(g.entry, "literals") == nil {
		c = Change{Path: g.at(Key("literals")), Op: Add, Live: []any{text}}
	}
	e, r := g.t.edit(g.document.file, g.root, c, true)
	return s.offer(g.document, e.line, g.layer+" generator", "", e.content, r)
}

// file writes the file that a key's value is, or takes it out of the list.
func (s *search) file(g generator, key string) (bool, error) {
	for i, n := range contentOf(child(g.entry, "files")) {
		have, file, named := strings.Cut(resolve(n).Value, "=")
		if !named {
			have, file = path.Base(have), have
		}
		if have != key {
			continue
		}
		if s.change.Op == Remove {
			e, r := g.t.edit(g.document.file, g.root, Change{Path: g.at(Key("files"), At(i)), Op: Remove}, s.structure)
			return s.offer(g.document, e.line, g.layer+" generator", "", e.content, r)
		}
		live, _ := s.change.Live.(string)
		return s.wholeFile(g, path.Join(path.Dir(g.document.file), file), []byte(live))
	}
	return false, nil
}

// wholeFile offers a file that is no manifest with another content.
func (s *search) wholeFile(g generator, file string, content []byte) (bool, error) {
	now, err := s.files.read(file)
	if err != nil || content == nil {
		return false, nil // then it is not there that the value lives
	}
	t := &text{content: now}
	if r := guardFile(file, t, &yaml.Node{}); r != nil {
		s.refusals = append(s.refusals, r)
		return false, nil
	}
	hunks := compareLines(splitLines(string(now)), splitLines(string(content)))
	line := 1
	if len(hunks) > 0 {
		line = hunks[0].a + 1
	}
	return s.attempt(suggestion{origin: origin{file, line, g.layer + " generator"}, writes: []write{{file, content}}})
}

// environment edits a line of a file with key=value lines.
func (s *search) environment(g generator, key string) (bool, error) {
	if s.change.Op == Add && child(g.entry, "literals") != nil {
		return false, nil
	}
	list := contentOf(child(g.entry, "envs"))
	if n := child(g.entry, "env"); n != nil {
		list = append(slices.Clip(list), n)
	}
	for _, n := range list {
		file := path.Join(path.Dir(g.document.file), resolve(n).Value)
		content, err := s.files.read(file)
		if err != nil {
			continue
		}
		if done, err := s.wholeFile(g, file, s.changeLine(string(content), key)); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// changeLine gives the content with a key's line as it is to be; nil if that
// can't be.
func (s *search) changeLine(content, key string) []byte {
	text := s.literalText(key)
	if strings.ContainsAny(text, "\r\n") {
		return nil
	}
	lines := splitLines(content)
	at := slices.IndexFunc(lines, func(line string) bool {
		have, _, ok := strings.Cut(line, "=")
		return ok && strings.TrimSpace(have) == key
	})
	eol := "\n"
	if strings.Contains(content, "\r\n") {
		eol = "\r\n"
	}
	switch {
	case at < 0 && s.change.Op == Remove:
		return nil
	case at < 0:
		if len(lines) > 0 && !strings.HasSuffix(content, "\n") {
			return []byte(content + eol + text)
		}
		return []byte(content + text + eol)
	case s.change.Op == Remove:
		lines = slices.Delete(lines, at, at+1)
	default:
		end := lines[at][len(strings.TrimRight(lines[at], "\r\n")):]
		lines[at] = text + end
	}
	return []byte(strings.Join(lines, ""))
}

// newLiteral gives the target a generator that merges one key into what a
// shared one makes.
func (s *search) newLiteral() (bool, error) {
	list, key := s.generated()
	d, own := s.target()
	if len(list) == 0 || !own || s.change.Op == Remove {
		return false, nil
	}
	lines := writePairs([]pair{{"name", list[len(list)-1].name}, {"behavior", "merge"}, {"literals", []any{s.literalText(key)}}})
	content, line, r := d.append("configMapGenerator", lines)
	return s.offer(d, line, d.layer+" generator", "", content, r)
}
