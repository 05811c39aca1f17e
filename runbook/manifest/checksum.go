package manifest

import (
	"fmt"
	"regexp"
	"strings"
)

// checksum matches what a template makes of a text to have pods replaced when
// it changes.
//
// Source: https://helm.sh/docs/howto/charts_tips_and_tricks/#automatically-roll-deployments
var checksum = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$`)

// followChecksums takes over annotations that hold a checksum of the object
// that changes, in what is wanted. It tells where pods are replaced for it.
func followChecksums(want, after []Resource, i int) (derived []string) {
	for _, m := range differences(want, after) {
		if m.resource == i || m.path == nil || m.resource >= len(after) {
			continue
		}
		old, _ := m.path.Get(want[m.resource].Content)
		now, _ := m.path.Get(after[m.resource].Content)
		object, _ := clone(want[m.resource].Content).(map[string]any)
		if !isChecksum(m.path, old, now) || m.path.Set(object, now) != nil {
			continue
		}
		want[m.resource].Content = object
		derived = append(derived, fmt.Sprintf("the annotation %s of %s follows, so that its pods are replaced", m.path[len(m.path)-1].Key, want[m.resource].Object()))
	}
	return derived
}

// isChecksum tells whether two values are checksums, in an annotation that is
// named for one.
func isChecksum(at Path, old, now any) bool {
	if len(at) < 2 || at[len(at)-2].Key != "annotations" {
		return false
	}
	name := strings.ToLower(at[len(at)-1].Key)
	if !strings.Contains(name, "checksum") && !strings.Contains(name, "hash") && !strings.Contains(name, "sha") {
		return false
	}
	was, okWas := old.(string)
	is, okIs := now.(string)
	return okWas && okIs && len(was) == len(is) && checksum.MatchString(was) && checksum.MatchString(is)
}
