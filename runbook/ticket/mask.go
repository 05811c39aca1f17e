package ticket

import "regexp"

// masked takes the place of what looks like a secret.
const masked = "[secret]"

// Forms of secrets that people paste into a reason. A ticket is read by more
// people than a channel, and is kept for longer: it is masked rather once too
// often.
var (
	// tokens are known by their beginning: Slack, GitHub, GitLab, AWS, Atlassian,
	// webhooks, Google, JSON Web Tokens.
	tokens = regexp.MustCompile(`(?:xox[a-z]-|xapp-|gh[pousr]_|github_pat_|glpat-|ATATT3|whsec_|AIza|ya29\.)[A-Za-z0-9_./+=-]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`)
	// keys are private keys; on one line, since a record's texts are.
	keys = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	// assigned is a value given to a name like password.
	assigned = regexp.MustCompile(`(?i)((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|credentials?)["'` + "`" + `]?\s*(?:[:=]|\bis\b)\s*["'` + "`" + `]?)[^\s"'` + "`" + `,;&]+`)
	// bearer is an HTTP header's credentials.
	bearerText = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9_./+=-]{12,}`)
	// userinfo is a password in an address.
	userinfo = regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]+@`)
)

// Mask takes out of a text what looks like a secret, whoever's it is. The
// caller takes out the secrets that it knows.
func Mask(text string) string {
	text = keys.ReplaceAllString(text, masked)
	text = userinfo.ReplaceAllString(text, "$1:"+masked+"@")
	text = tokens.ReplaceAllString(text, masked)
	text = bearerText.ReplaceAllString(text, "$1 "+masked)
	return assigned.ReplaceAllString(text, "${1}"+masked)
}
