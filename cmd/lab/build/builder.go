package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Builder keeps built programs in a cache folder.
type Builder struct {
	Cache   string  // folder for the programs; made when missing
	Display Display // told how far it is
	Now     func() time.Time
}

// CacheFolder is where programs are kept: $RECONCILEBOT_LAB_CACHE, or a folder
// of its own in the user's cache folder.
func CacheFolder(getenv func(string) string) (string, error) {
	if dir := getenv("RECONCILEBOT_LAB_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache folder: %w; name one in RECONCILEBOT_LAB_CACHE", err)
	}
	return filepath.Join(dir, "reconcilebot", "lab"), nil
}

// Build makes the programs that are not in the cache yet, one after the other,
// and returns where each of them is, by name. A build already uses every core.
func (b Builder) Build(ctx context.Context, programs ...Program) (map[string]string, error) {
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w; name another in RECONCILEBOT_LAB_CACHE", err)
	}
	version, err := goVersion(ctx)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	var missing []job
	for _, p := range programs {
		key, err := p.key(version)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(b.Cache, p.Name+"-"+key, p.Name)
		paths[p.Name] = path
		if _, err := os.Stat(path); err != nil || p.Changing {
			missing = append(missing, job{Program: p, path: path})
		}
	}
	if len(missing) == 0 {
		return paths, nil
	}
	return paths, b.make(ctx, missing)
}

// A job is a program that has to be built, and where it goes.
type job struct {
	Program
	path  string
	count count
}

func (b Builder) make(ctx context.Context, jobs []job) error {
	if err := enoughDisk(ctx, b.Cache, needed, neededWork); err != nil {
		return err
	}
	// Another lab may be building the same programs: wait for it, then look
	// again, rather than do the work twice at half the speed.
	unlock, err := lock(ctx, filepath.Join(b.Cache, "building"), func() {
		b.Display.Say("waiting for another lab that is building")
	})
	if err != nil {
		return err
	}
	defer unlock()

	if once := names(jobs); once != "" {
		b.Display.Say("building " + once + " into " + b.Cache + ", which is done once")
	}
	progress := newProgress(b.Display, b.Now, jobs)
	defer progress.close()
	for i, j := range jobs {
		if _, err := os.Stat(j.path); err == nil && !j.Changing {
			progress.skip(i)
			continue
		}
		if err := b.one(ctx, j, progress.of(i)); err != nil {
			return err
		}
	}
	return nil
}

// names lists the jobs that are done once.
func names(jobs []job) string {
	var once []string
	for _, j := range jobs {
		if !j.Changing {
			once = append(once, j.Name)
		}
	}
	return strings.Join(once, ", ")
}

// one builds one program.
func (b Builder) one(ctx context.Context, j job, report *stage) error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o755); err != nil {
		return diskHint(b.Cache, fmt.Errorf("make a folder for %s: %w", j.Name, err))
	}
	listed, err := list(ctx, j.Program, report)
	if err != nil {
		return diskHint(b.Cache, err)
	}
	report.begin(listed)
	place := b.fresh
	if j.Changing {
		// Built in its place: what is there already tells Go whether there
		// is anything to do.
		place = func(ctx context.Context, j job, report *stage) error { return compile(ctx, j.Program, j.path, report) }
	}
	if err := place(ctx, j, report); err != nil {
		return diskHint(b.Cache, err)
	}
	report.done()
	return nil
}

// fresh builds beside the final place and renames, so that an interrupted build
// leaves nothing that looks finished.
func (b Builder) fresh(ctx context.Context, j job, report *stage) error {
	half, err := os.MkdirTemp(filepath.Dir(j.path), "building-")
	if err != nil {
		return fmt.Errorf("make a folder for %s: %w", j.Name, err)
	}
	defer os.RemoveAll(half)
	out := filepath.Join(half, j.Name)
	if err := compile(ctx, j.Program, out, report); err != nil {
		return err
	}
	if err := os.Rename(out, j.path); err != nil {
		return fmt.Errorf("put %s into the cache: %w", j.Name, err)
	}
	return nil
}

func goVersion(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("find the Go toolchain: %w; install Go 1.26 or later (https://go.dev/dl)", err)
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for its version: %w", err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}
