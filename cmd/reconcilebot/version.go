package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
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
// A binary of go run, or one built outside a repository, knows neither; go
// install of a release knows no revision.
func versionText(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "development build"
	}
	var known []string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			known = append(known, "revision "+s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			known = append(known, "modified")
		}
	}
	text := "reconcilebot " + version
	if len(known) > 0 {
		text += " (" + strings.Join(known, ", ") + ")"
	}
	return text + " " + info.GoVersion
}
