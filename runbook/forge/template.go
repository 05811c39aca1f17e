package forge

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxTemplate bounds what is taken of a template, so that the description
// keeps within GitHub's 65,536 characters; bytes.
const maxTemplate = 16 << 10

// PullTemplate is the repository's template for pull requests, "" if it has
// none: a file named pull_request_template, in letters of any case, in
// .github, the root or docs. GitHub fills it in for people only, not for what
// comes by its API. A folder of several templates is for people to choose from
// and left alone.
// https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/creating-a-pull-request-template-for-your-repository
func PullTemplate(tree fs.FS) (string, error) {
	for _, dir := range []string{".github", ".", "docs"} {
		entries, err := fs.ReadDir(tree, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("look for a template in %s: %w", dir, err)
		}
		for _, e := range entries {
			name := strings.ToLower(e.Name())
			if !e.Type().IsRegular() || name != "pull_request_template.md" && name != "pull_request_template.txt" && name != "pull_request_template" {
				continue
			}
			raw, err := fs.ReadFile(tree, path.Join(dir, e.Name()))
			if err != nil {
				return "", fmt.Errorf("read the template %s: %w", path.Join(dir, e.Name()), err)
			}
			if len(raw) > maxTemplate {
				return "", nil
			}
			return strings.TrimSpace(strings.ToValidUTF8(string(raw), "")), nil
		}
	}
	return "", nil
}
