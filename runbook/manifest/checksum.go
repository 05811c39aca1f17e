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
		if m.resource == i || m.path == nil || len(m.path) < 2 || m.resource >= len(after) {
			continue
		}
		last, above := m.path[len(m.path)-1], m.path[len(m.path)-2]
		name := strings.ToLower(last.Key)
		if above.Key != "annotations" || !strings.Contains(name, "checksum") && !strings.Contains(name, "hash") && !strings.Contains(name, "sha") {
			continue
		}
		old, _ := m.path.Get(want[m.resource].Content)
		now, _ := m.path.Get(after[m.resource].Content)
		was, okWas := old.(string)
		is, okIs := now.(string)
		if !okWas || !okIs || len(was) != len(is) || !checksum.MatchString(was) || !checksum.MatchString(is) {
			continue
		}
		object, _ := clone(want[m.resource].Content).(map[string]any)
		if m.path.Set(object, is) != nil {
			continue
		}
		want[m.resource].Content = object
		derived = append(derived, fmt.Sprintf("the annotation %s of %s follows, so that its pods are replaced", last.Key, want[m.resource].Object()))
	}
	return derived
}
