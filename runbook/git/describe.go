package git

import "context"

// Describe tells what is known of a commit, and its first parent; "" if it has
// none. Of a merge, the first parent is the branch before the merge.
func (r *Repo) Describe(_ context.Context, sha string) (c Commit, parent string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.commit(sha)
	if err != nil {
		return c, "", err
	}
	if len(found.ParentHashes) > 0 {
		parent = found.ParentHashes[0].String()
	}
	return described(found), parent, nil
}
