package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomizeFS shows Kustomize the tree, with the edits made so far, as an
// absolute file system: what is apps/web in the tree is /apps/web here.
//
// It is the only way by which Kustomize gets at anything, so the bounds are
// held here: time, size, number of files, and what a kustomization may ask
// for (see vet). Kustomize passes over errors of files that may be missing,
// so that the first refusal is kept and must be looked at after a build.
type kustomizeFS struct {
	context.Context // Kustomize's file system has no way to pass one.
	files           *files
	left            int64
	reads, built    int
	refusal         *Refusal
	// first is the kustomization to which an Application's options apply.
	first   string
	options *KustomizeOptions
}

var errReadOnly = errors.New("the tree is not written to")

// maxReads bounds the reads of one build, maxBuilt those of kustomizations. A
// kustomization may name another one more than once, so that few files can ask
// for many reads.
const (
	maxReads = 20_000
	maxBuilt = 2_000
)

func newKustomizeFS(ctx context.Context, f *files) *kustomizeFS {
	return &kustomizeFS{Context: ctx, files: f, left: f.limits.SourceBytes}
}

// inTree turns Kustomize's path into one of the tree, links followed; empty
// if there is nothing.
func (k *kustomizeFS) inTree(name string) (string, error) {
	name = strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(name)), "/")
	if name == "" {
		return ".", nil
	}
	if k.files.edited[name] != nil {
		return name, nil
	}
	real, err := k.files.follow(name)
	if r, ok := errors.AsType[*Refusal](err); ok && k.refusal == nil {
		k.refusal = r
	}
	if content, edited := k.files.edited[real]; edited && content == nil {
		return "", err
	}
	return real, err
}

func (k *kustomizeFS) ReadFile(name string) ([]byte, error) {
	if err := k.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	real, err := k.inTree(name)
	if err != nil {
		return nil, err
	}
	if real == "" {
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	if st, err := k.files.stat(real); err != nil || st.IsDir() {
		return nil, fmt.Errorf("read %s: it is no file", name)
	}
	content, err := k.files.read(real)
	if err == nil && real == k.first {
		if content, err = k.options.apply(content); err != nil {
			err = refuse(Unreadable, "Mend the Application or its kustomization first.", "the Application's options don't fit %s: %v", real, err)
		}
	}
	if err == nil {
		err = k.allow(real, content)
	}
	if r, ok := errors.AsType[*Refusal](err); ok && k.refusal == nil {
		k.refusal = r
	}
	return content, err
}

// allow holds the bounds on what is read.
func (k *kustomizeFS) allow(name string, content []byte) error {
	k.left -= int64(len(content))
	k.reads++
	if slices.Contains(kustomizationNames(), path.Base(name)) {
		k.built++
	}
	if k.left < 0 || k.reads > maxReads || k.built > maxBuilt {
		return refuse(TooLarge, "Edit it by hand.", "the kustomization reads more than %d bytes or %d files", k.files.limits.SourceBytes, maxReads)
	}
	return k.files.vet(name, content)
}

func (k *kustomizeFS) IsDir(name string) bool {
	real, err := k.inTree(name)
	if err != nil || real == "" {
		return false
	}
	st, err := k.files.stat(real)
	return err == nil && st.IsDir()
}

func (k *kustomizeFS) Exists(name string) bool {
	real, err := k.inTree(name)
	return err == nil && real != ""
}

func (k *kustomizeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	real, err := k.inTree(name)
	if err != nil {
		return "", "", err
	}
	if real == "" {
		return "", "", fmt.Errorf("look at %s: %w", name, fs.ErrNotExist)
	}
	if k.IsDir(name) {
		return filesys.ConfirmedDir(path.Join("/", real)), "", nil
	}
	return filesys.ConfirmedDir(path.Join("/", path.Dir(real))), path.Base(real), nil
}

func (k *kustomizeFS) ReadDir(name string) ([]string, error) {
	real, err := k.inTree(name)
	if err != nil || real == "" {
		return nil, fmt.Errorf("list %s: %w", name, cmpErr(err, fs.ErrNotExist))
	}
	entries, err := k.files.entries(real)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, err
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func (*kustomizeFS) Create(string) (filesys.File, error)      { return nil, errReadOnly }
func (*kustomizeFS) Mkdir(string) error                       { return errReadOnly }
func (*kustomizeFS) MkdirAll(string) error                    { return errReadOnly }
func (*kustomizeFS) RemoveAll(string) error                   { return errReadOnly }
func (*kustomizeFS) WriteFile(string, []byte) error           { return errReadOnly }
func (*kustomizeFS) Open(string) (filesys.File, error)        { return nil, errors.ErrUnsupported }
func (*kustomizeFS) Glob(string) ([]string, error)            { return nil, errors.ErrUnsupported }
func (*kustomizeFS) Walk(_ string, _ filepath.WalkFunc) error { return errors.ErrUnsupported }
