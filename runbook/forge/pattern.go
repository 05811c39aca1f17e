package forge

import (
	"fmt"
	"regexp"
	"strings"
)

// Pattern is a rule that binds a text: a branch's name, a commit's message or
// an address in it.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#metadata-restrictions
type Pattern struct {
	// Of is branch_name, commit_message, commit_author_email or
	// committer_email.
	Of   string `json:"of"`
	Name string `json:"name"`
	// Operator is starts_with, ends_with, contains or regex.
	Operator string `json:"operator"`
	Pattern  string `json:"pattern"`
	Negate   bool   `json:"negate"`
}

// Allows tells whether a text keeps to the rule. known is false when that
// can't be told here: GitHub's regular expressions know more than Go's.
func (p Pattern) Allows(text string) (allowed, known bool) {
	fits := false
	switch p.Operator {
	case "starts_with":
		fits = strings.HasPrefix(text, p.Pattern)
	case "ends_with":
		fits = strings.HasSuffix(text, p.Pattern)
	case "contains":
		fits = strings.Contains(text, p.Pattern)
	case "regex":
		re, err := regexp.Compile(p.Pattern)
		if err != nil {
			return true, false
		}
		fits = re.MatchString(text)
	default:
		return true, false
	}
	return fits != p.Negate, true
}

// String is the rule in words, to be put behind a noun.
func (p Pattern) String() string {
	verb := map[string]string{"starts_with": "begin with", "ends_with": "end with", "contains": "contain", "regex": "match"}[p.Operator]
	if verb == "" {
		verb = p.Operator
	}
	must := "must "
	if p.Negate {
		must = "must not "
	}
	return fmt.Sprintf("%s%s %q", must, verb, p.Pattern)
}
