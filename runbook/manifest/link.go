package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxLinks bounds a chain of symbolic links, as Linux does.
const maxLinks = 40

// follow gives the file that a symbolic link leads to, "" if it is missing.
// One that leads out of the tree is refused, as Argo CD refuses it.
func follow(tree Tree, name string) (string, error) {
	outside := refuse(Unreadable, "Take the link out of the directory.", "%s is a symbolic link that leads out of the repository", name)
	todo := strings.Split(name, "/")
	done := "."
	for links := 0; len(todo) > 0; {
		next := path.Join(done, todo[0])
		todo = todo[1:]
		if !fs.ValidPath(next) {
			return "", outside
		}
		st, err := lstat(tree, next)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", next, err)
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		target, err := fs.ReadLink(tree, next)
		if err != nil {
			return "", fmt.Errorf("read the link %s: %w", next, err)
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return "", outside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, nil
}

func lstat(tree Tree, name string) (fs.FileInfo, error) { return fs.Lstat(tree, name) }
