package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version prints what go build left in the binary.
func version(_ context.Context, c console, args []string) error {
	if len(args) > 0 {
		return usageError{"version takes no arguments"}
	}
	_, err := fmt.Fprintln(c.stdout, versionText(buildInfo()))
	return err
}

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{GoVersion: runtime.Version()}
}

// versionText is like: reconcilebot v1.2.0 (revision 5d0c4e1, modified) go1.26.5.
func versionText(info *debug.BuildInfo) string {
	version, revision, modified := info.Main.Version, "unknown", ""
	if version == "" {
		version = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	return fmt.Sprintf("reconcilebot %s (revision %s%s) %s", version, revision, modified, info.GoVersion)
}
