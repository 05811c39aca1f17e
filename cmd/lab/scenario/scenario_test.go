package scenario

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		pattern string
		want    []string
		refused string
	}{
		"one by its name":         {pattern: "scaled-adopt", want: []string{"scaled-adopt"}},
		"those that fit":          {pattern: "killed-*", want: []string{"killed-between-approval-and-merge", "killed-between-push-and-pull-request"}},
		"an unknown name":         {pattern: "scaled-adpot", refused: "scaled-adopt"},
		"a pattern that is wrong": {pattern: "[", refused: "write a name, a pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, err := Choose(c.pattern)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("said %v, want it to name %q", err, c.refused)
				}
				return
			}
			var got []string
			for _, s := range chosen {
				got = append(got, s.Name)
			}
			if err != nil || strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("chose %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestEveryScenarioHasAWorldOfItsOwn(t *testing.T) {
	chosen, err := Choose("all")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for i, w := range Worlds(chosen) {
		for _, own := range []string{w.Namespace(), w.App, w.Repo, w.Channel, w.ChannelID, w.Incident} {
			if other, taken := seen[own]; taken {
				t.Errorf("%s and %s share %q", chosen[i].Name, other, own)
			}
			seen[own] = chosen[i].Name
			if len(own) > 63 {
				t.Errorf("%q is longer than Kubernetes allows a name to be", own)
			}
		}
	}
}
