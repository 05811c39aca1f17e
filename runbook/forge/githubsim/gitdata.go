package githubsim

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// postBlob, postTree and postCommit make Git's objects one by one.
// https://docs.github.com/en/rest/git
func (s *Sim) postBlob(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct{ Content, Encoding string }
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	content := []byte(want.Content)
	if want.Encoding == "base64" {
		if content, err = base64.StdEncoding.DecodeString(want.Content); err != nil {
			return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "content is not valid Base64"}
		}
	}
	sha, err := call{dir: r.dir, stdin: string(content)}.git("hash-object", "-w", "--stdin")
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, map[string]any{"sha": sha, "url": s.apiURL("repos", r.fullName(), "git/blobs", sha)}, nil
}

func (s *Sim) postTree(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	var want struct {
		Base string `json:"base_tree"`
		Tree []struct {
			Path, Mode, Type string
			SHA, Content     *string
		}
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	in, gone := r.index()
	defer gone()
	refuse := func(text string) (int, any, error) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: text}
	}
	if want.Base != "" {
		if _, err := in.git("read-tree", want.Base); err != nil {
			return refuse("base_tree is not a valid tree")
		}
	}
	for _, e := range want.Tree {
		switch {
		case e.SHA == nil && e.Content == nil:
			if err := in.remove(e.Path); err != nil {
				return 0, nil, err
			}
			continue
		case e.SHA == nil:
			blob, err := call{dir: r.dir, stdin: *e.Content}.git("hash-object", "-w", "--stdin")
			if err != nil {
				return 0, nil, err
			}
			e.SHA = &blob
		}
		if _, err := r.git("cat-file", "-e", *e.SHA); err != nil {
			return refuse("tree.sha " + *e.SHA + " is not a valid blob")
		}
		if _, err := in.git("update-index", "--add", "--cacheinfo", e.Mode+","+*e.SHA+","+e.Path); err != nil {
			return refuse("tree.path contains a malformed path component")
		}
	}
	sha, err := in.git("write-tree")
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, r.treeJSON(sha), nil
}

func (r *repo) treeJSON(sha string) map[string]any {
	list := []map[string]any{}
	out, err := r.git("ls-tree", sha)
	if err == nil {
		for line := range strings.Lines(out) {
			head, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			f := strings.Fields(head)
			kind := map[string]string{"blob": "blobs", "tree": "trees", "commit": "commits"}[f[1]]
			list = append(list, map[string]any{"path": path, "mode": f[0], "type": f[1], "sha": f[2], "url": r.sim.apiURL("repos", r.fullName(), "git", kind, f[2])})
		}
	}
	return map[string]any{"sha": sha, "url": r.sim.apiURL("repos", r.fullName(), "git/trees", sha), "truncated": false, "tree": list}
}

// postCommit signs what names no author of its own.
func (s *Sim) postCommit(a *asked) (int, any, error) {
	r, err := a.repo(Write)
	if err != nil {
		return 0, nil, err
	}
	type person struct{ Name, Email string }
	var want struct {
		Message, Tree     string
		Parents           []string
		Author, Committer *person
	}
	if err := a.body(&want); err != nil {
		return 0, nil, err
	}
	if _, err := r.git("cat-file", "-e", want.Tree+"^{tree}"); err != nil || want.Message == "" {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Tree SHA does not exist"}
	}
	args := []string{"commit-tree", want.Tree, "-F", "-"}
	for _, p := range want.Parents {
		if _, ok := r.commitOf(p); !ok {
			return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Parent SHA does not exist or is not a commit object"}
		}
		args = append(args, "-p", p)
	}
	author := person{}
	author.Name, author.Email = s.identity(a.login)
	committer := person{"GitHub", "noreply@github.com"}
	if want.Author != nil {
		author, committer = *want.Author, *want.Author
	}
	if want.Committer != nil {
		committer = *want.Committer
	}
	env := append(signature("AUTHOR", author.Name, author.Email, s.now()), signature("COMMITTER", committer.Name, committer.Email, s.now())...)
	sha, err := call{dir: r.dir, env: env, stdin: want.Message}.git(args...)
	if err != nil {
		return 0, nil, err
	}
	if want.Author == nil && want.Committer == nil {
		r.ours[sha] = true
	}
	return http.StatusCreated, r.gitCommitJSON(sha), nil
}

func (s *Sim) getGitCommit(a *asked) (int, any, error) {
	r, err := a.repo(Read)
	if err != nil {
		return 0, nil, err
	}
	sha, ok := r.commitOf(a.PathValue("sha"))
	if !ok {
		return 0, nil, notFound()
	}
	return http.StatusOK, r.gitCommitJSON(sha), nil
}

// gitCommitJSON is a commit as Git knows it, without what GitHub knows of its
// people.
func (r *repo) gitCommitJSON(sha string) map[string]any {
	full := r.commitJSON(sha)
	inner, ok := full["commit"].(map[string]any)
	if !ok {
		return nil
	}
	return map[string]any{
		"sha": sha, "node_id": full["node_id"], "url": r.sim.apiURL("repos", r.fullName(), "git/commits", sha), "html_url": full["html_url"],
		"author": inner["author"], "committer": inner["committer"], "tree": inner["tree"], "message": inner["message"],
		"parents": full["parents"], "verification": inner["verification"],
	}
}
