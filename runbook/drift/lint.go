package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reconcilebot/runbook/argocd"
)

// hidingRules finds rules of an Application that hide what people do by hand:
// those that ignore all that a tool of people's writes. What such a rule covers
// shows as Synced, whoever changed it.
// https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/
func hidingRules(app argocd.App) (rules []string) {
	var in struct {
		Spec struct {
			IgnoreDifferences []struct {
				Group    string   `json:"group"`
				Kind     string   `json:"kind"`
				Name     string   `json:"name"`
				Managers []string `json:"managedFieldsManagers"`
			} `json:"ignoreDifferences"`
		} `json:"spec"`
	}
	if json.Unmarshal(app.Raw, &in) != nil {
		return nil
	}
	for _, d := range in.Spec.IgnoreDifferences {
		hands := slices.DeleteFunc(slices.Clone(d.Managers), func(m string) bool { return authorOf(m) != hand })
		if len(hands) == 0 {
			continue
		}
		what := d.Kind
		if d.Name != "" {
			what += " " + d.Name
		}
		rules = append(rules, fmt.Sprintf("spec.ignoreDifferences ignores whatever %s writes to %s: changes made by hand there show as Synced, and are not counted here", strings.Join(hands, ", "), what))
	}
	return rules
}
