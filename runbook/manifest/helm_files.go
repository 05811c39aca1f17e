package manifest

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
)

// contents finds the field in files that templates read as they are, such as
// configuration that becomes a ConfigMap.
func (s *helmSearch) contents(ctx context.Context) (bool, error) {
	git, live, ok := s.isField()
	if !ok {
		return false, nil
	}
	for _, file := range s.release.chart.Files() {
		if file.Path == "" || path.Base(file.Path) == "values.yaml" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		for _, w := range s.contentEdits(string(file.Data), git, live) {
			t := parseText([]byte(file.Data))
			if t.err == nil && len(t.docs) > 0 {
				if r := guardFile(file.Path, t, t.docs[0]); r != nil {
					s.refusals = append(s.refusals, r)
					break
				}
			}
			at := origin{file.Path, 1 + strings.Count(w[:commonStart(w, string(file.Data))], "\n"), "file of the chart"}
			content, err := s.files.read(file.Path)
			if err != nil {
				return false, err
			}
			if !bytes.Equal(bytes.TrimPrefix(content, bom), file.Data) {
				break
			}
			if bytes.HasPrefix(content, bom) {
				w = string(bom) + w
			}
			if s.shared(file.Path) {
				s.found, s.sharedFile = at, file.Path
				break
			}
			if done, err := s.attempt(suggestion{origin: at, writes: []write{{file.Path, []byte(w)}}}); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

func commonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// contentEdits are texts that a file may become.
func (s *helmSearch) contentEdits(text, git, live string) (list []string) {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && trimmed == strings.TrimSpace(git) {
		i := strings.Index(text, trimmed)
		return []string{text[:i] + strings.TrimSpace(live) + text[i+len(trimmed):]}
	}
	for _, p := range append([]replacement{{git, live}}, pieces(git, live)...) {
		if len(p.old) < 2 || strings.Count(text, p.old) > maxTimes {
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:], p.old)
			if i < 0 {
				break
			}
			i += from
			from = i + len(p.old)
			if w := text[:i] + p.new + text[from:]; stands(text, i, from) && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// hardCoded finds the value in the template that makes the object. Templates
// are not edited: what they hold is for everybody who uses the chart.
func (s *helmSearch) hardCoded() *Refusal {
	git, _, ok := s.isField()
	made := s.object().File
	if made == "" {
		return nil
	}
	for _, t := range s.release.chart.Templates() {
		if t.Path != made {
			continue
		}
		last := lastKey(s.change.Path)
		n := 0
		for line := range strings.Lines(string(t.Data)) {
			n++
			key, value, isPair := strings.Cut(strings.ToLower(line), ":")
			if !ok || !isPair || strings.TrimLeft(key, " -\"") != last && strings.Trim(key, " -\"'") != last || !strings.Contains(line, git) || strings.Contains(value, ".values") {
				continue
			}
			s.found = origin{made, n, "template"}
			return refuse(HardCoded, "Make it a value of the chart in "+made+", and set that for this target, by hand.", "the value is written in the template %s itself, in line %d", made, n)
		}
	}
	s.found = origin{made, 1, "template"}
	return refuse(HardCoded, "Make it a value of the chart in "+made+", and set that for this target, by hand.", "no value of the chart sets %s: it is made by the template %s", s.change.Path, made)
}
