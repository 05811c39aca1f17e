package writeback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"reconcilebot/cmd/reconcilebot/propose"
	"reconcilebot/runbook/manifest/chart"
)

// render is what a program makes of a root: objects by kind, namespace and
// name.
type render map[string]map[string]any

// verdicts of the judge.
const (
	proven  = "proven"
	refused = "refused"
	wrong   = "wrong"
	// unseen means that the comparison saw no difference.
	unseen = "unseen"
)

// outcome is what became of one change.
type outcome struct {
	repo, root, kind, layer string
	structural              bool
	verdict, class, why     string
	took                    time.Duration
}

// buildProgram builds an upstream program, name, from the module that pins it.
func buildProgram(ctx context.Context, root, scratch, name, source string) (string, error) {
	program := filepath.Join(scratch, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	cmd.Dir = filepath.Join(root, "deploy", "lab", name)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	return program, nil
}

func version(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, "go", "version", "-m", program).Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); err == nil && len(f) > 2 && f[0] == "mod" {
			return f[1] + " " + f[2]
		}
	}
	return program
}

// build renders a root with the upstream program. It has no network to go to:
// what needs it fails, and is not measured.
func (r *repository) build(ctx context.Context, root string) (render, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("rendering took more than a minute"))
	defer cancel()
	cmd := exec.CommandContext(ctx, r.config.Kustomize, "build", "--load-restrictor", "LoadRestrictionsNone", root)
	if r.isChart(root) {
		cmd = exec.CommandContext(ctx, r.config.Helm, "template", filepath.Base(root), root, "--include-crds", "--kube-version", chart.DefaultKubeVersion)
	}
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_ALLOW_PROTOCOL=none", "HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1")
	var out, say bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &say
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("render %s: %w: %.300s", root, err, say.String())
	}
	return decode(out.String())
}

func decode(text string) (render, error) {
	found := render{}
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			return nil, fmt.Errorf("read the render: %w", err)
		}
		if len(object) > 0 {
			found[nameOf(object)] = object
		}
	}
	return found, nil
}

func nameOf(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	return fmt.Sprint(object["apiVersion"], "/", object["kind"], "/", meta["namespace"], "/", meta["name"])
}

// try asks for edits that make one change true, and judges them.
func (r *repository) try(ctx context.Context, root string, m mutation) (outcome, error) {
	o := outcome{repo: r.name, root: root, kind: m.kind.name, structural: m.kind.structural}
	result, err := r.ask(ctx, root, m)
	if err != nil {
		return o, err
	}
	o.took = time.Duration(result.Ms["propose"]) * time.Millisecond
	for _, c := range result.Changes {
		if o.layer == "" || c.Verdict != proven {
			o.layer = c.Source.Layer
		}
		if c.Verdict != proven {
			o.class, o.why = string(c.Class), c.Path.String()+": "+c.Why
		}
	}
	switch result.Verdict {
	case "proven":
	case "nothing":
		o.verdict = unseen
		return o, nil
	default:
		o.verdict = refused
		return o, nil
	}
	o.verdict, o.why, err = r.judge(ctx, root, m, result)
	return o, err
}

// ask runs what `reconcilebot propose` runs.
func (r *repository) ask(ctx context.Context, root string, m mutation) (propose.Result, error) {
	live, err := json.Marshal(m.live)
	if err != nil {
		return propose.Result{}, err
	}
	file := r.dir + ".live.json"
	if err := os.WriteFile(file, live, 0o600); err != nil {
		return propose.Result{}, err
	}
	return propose.Run(ctx, propose.Options{Repo: r.dir, Path: root, Live: file, Now: time.Now, Known: r.known})
}

// judge applies the patch with git, renders, and puts everything back.
func (r *repository) judge(ctx context.Context, root string, m mutation, result propose.Result) (verdict, why string, err error) {
	patch := r.dir + ".patch"
	if err := os.WriteFile(patch, []byte(result.Patch()), 0o600); err != nil {
		return "", "", err
	}
	consumers := r.consumers(root, result.Edits)
	for _, c := range consumers {
		if _, err := r.rendered(ctx, c); err != nil {
			return "", "", err
		}
	}
	if say, err := r.git(ctx, "apply", "--whitespace=nowarn", patch); err != nil {
		return wrong, "git apply: " + say, nil // that is the verdict
	}
	verdict, why = r.look(ctx, root, m, result, consumers)
	if say, err := r.git(ctx, "apply", "--whitespace=nowarn", "-R", patch); err != nil {
		return "", "", fmt.Errorf("take the patch back: %w: %s", err, say)
	}
	return verdict, why, nil
}

func (r *repository) git(ctx context.Context, args ...string) (say string, err error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(r.dir))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// look says what the applied edits do.
func (r *repository) look(ctx context.Context, root string, m mutation, result propose.Result, consumers []string) (verdict, why string) {
	for _, e := range result.Edits {
		now, err := os.ReadFile(filepath.Join(r.dir, e.File))
		if err != nil && !e.Deleted || string(now) != e.Content {
			return wrong, e.File + " is not what the patch makes of it"
		}
		if lines := removed(e.Patch); lines > m.lines() {
			return wrong, fmt.Sprintf("%s: %d lines are rewritten for a change of %d", e.File, lines, m.lines())
		}
	}
	is, err := r.build(ctx, root)
	if err != nil {
		return wrong, err.Error()
	}
	want := maps.Clone(r.before[root])
	want[m.name] = m.live
	if diff := differ(inOrder(unhash(want)), inOrder(unhash(is))); diff != "" {
		return wrong, diff
	}
	for _, c := range consumers {
		now, err := r.build(ctx, c)
		if r.before[c] == nil {
			continue // it did not render before
		}
		if err != nil {
			return wrong, err.Error()
		}
		if diff := differ(r.before[c], now); diff != "" {
			return wrong, c + " moved: " + diff
		}
	}
	return proven, ""
}

// removed counts the lines that a patch takes away.
func removed(patch string) (lines int) {
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
			lines++
		}
	}
	return lines
}

// hash matches the end of a generated name.
var hash = regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)

// sum matches a checksum, as charts write it into annotations.
var sum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// unhash gives generated ConfigMaps and Secrets a name that does not move
// with their content, also where others refer to them.
func unhash(objects render) render {
	names := map[string]string{}
	for _, o := range objects {
		meta, _ := o["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if (o["kind"] == "ConfigMap" || o["kind"] == "Secret") && hash.MatchString(name) {
			names[name] = hash.ReplaceAllString(name, "-HASH")
		}
	}
	out := render{}
	for _, o := range objects {
		changed, _ := replace(o, names).(map[string]any)
		out[nameOf(changed)] = changed
	}
	return out
}

func replace(v any, names map[string]string) any {
	switch v := v.(type) {
	case string:
		if now, ok := names[v]; ok {
			return now
		}
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			// A checksum of what changed moves with it.
			if text, ok := item.(string); ok && strings.HasPrefix(key, "checksum/") && sum.MatchString(text) {
				item = "CHECKSUM"
			}
			out[key] = replace(item, names)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = replace(item, names)
		}
		return out
	}
	return v
}

// mergeKeys are fields by which the API server tells a list's items apart.
var mergeKeys = []string{"name", "containerPort", "port", "mountPath", "topologyKey", "ip"}

// inOrder sorts lists whose items have a key: a change that renames an item
// takes it away and adds another, and says nothing of the place.
func inOrder(objects render) render {
	out := render{}
	for name, o := range objects {
		out[name], _ = sorted(o).(map[string]any)
	}
	return out
}

func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			out[key] = sorted(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = sorted(item)
		}
		for _, key := range mergeKeys {
			if isKey(out, key) {
				slices.SortFunc(out, func(a, b any) int {
					return strings.Compare(fmt.Sprint(dig(a, key)), fmt.Sprint(dig(b, key)))
				})
				break
			}
		}
		return out
	}
	return v
}

// isKey tells whether all items have the field, and each another value.
func isKey(list []any, key string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		v := dig(item, key)
		if v == nil || seen[fmt.Sprint(v)] {
			return false
		}
		seen[fmt.Sprint(v)] = true
	}
	return len(list) > 0
}

// differ names the first difference between two renders.
func differ(want, is render) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := is[name]; !ok {
			return name + " is gone"
		}
		if at := firstDifference(want[name], is[name], name); at != "" {
			return at
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := want[name]; !ok {
			return name + " is new"
		}
	}
	return ""
}

func firstDifference(a, b any, at string) string {
	x, isMap := a.(map[string]any)
	y, isMapToo := b.(map[string]any)
	if isMap && isMapToo {
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if where := firstDifference(x[key], y[key], at+"."+key); where != "" {
				return where
			}
		}
		for _, key := range slices.Sorted(maps.Keys(y)) {
			if _, ok := x[key]; !ok {
				return at + "." + key + " is new"
			}
		}
		return ""
	}
	p, isList := a.([]any)
	q, isListToo := b.([]any)
	if isList && isListToo && len(p) == len(q) {
		for i := range p {
			if where := firstDifference(p[i], q[i], fmt.Sprintf("%s[%d]", at, i)); where != "" {
				return where
			}
		}
		return ""
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return fmt.Sprintf("%s: want %.80v, is %.80v", at, a, b)
}

// consumers are the other roots that may read one of the edited files, by
// this package's own reading of the kustomizations.
func (r *repository) consumers(root string, edits []propose.Edit) (list []string) {
	for _, other := range r.roots {
		if other == root {
			continue
		}
		reads, ok := r.reads[other]
		if !ok {
			reads = map[string]bool{}
			r.follow(other, reads)
			r.reads[other] = reads
		}
		if slices.ContainsFunc(edits, func(e propose.Edit) bool { return reads[e.File] }) {
			list = append(list, other)
		}
	}
	return list
}

// follow collects the files that a kustomization's texts lead to.
func (r *repository) follow(dir string, reads map[string]bool) {
	if r.isChart(dir) {
		_ = filepath.WalkDir(filepath.Join(r.dir, dir), func(name string, d fs.DirEntry, err error) error {
			if rel, relErr := filepath.Rel(r.dir, name); err == nil && relErr == nil && !d.IsDir() {
				reads[rel] = true
			}
			return nil
		})
		return
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file := filepath.Join(dir, name)
		raw, err := os.ReadFile(filepath.Join(r.dir, file))
		if err != nil || reads[file] {
			continue
		}
		reads[file] = true
		var content any
		if yaml.Unmarshal(raw, &content) != nil {
			continue
		}
		visit(content, func(text string) {
			_, value, ok := strings.Cut(text, "=")
			if !ok {
				value = text
			}
			path := filepath.Join(dir, value)
			if !fs.ValidPath(path) || len(value) > 1000 {
				return
			}
			info, err := os.Stat(filepath.Join(r.dir, path))
			switch {
			case err != nil:
			case info.IsDir():
				r.follow(path, reads)
			default:
				reads[path] = true
			}
		})
	}
}

func visit(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			visit(item, f)
		}
	case map[string]any:
		for _, item := range v {
			visit(item, f)
		}
	}
}
