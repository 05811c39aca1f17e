package githubsim

import (
	"net/http"
	"strings"
	"time"
)

// maxShown bounds how much of a file a page shows.
const maxShown = 1 << 20

// commitLine is a commit in a list.
type commitLine struct {
	SHA, Author, Subject string
	At                   time.Time
}

// log lists commits, newest first.
func (r *repo) log(args ...string) ([]commitLine, error) {
	out, err := r.git(append([]string{"log", "--format=%H%x00%an%x00%cI%x00%s"}, args...)...)
	if err != nil || out == "" {
		return nil, err
	}
	var list []commitLine
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.SplitN(line, "\x00", 4)
		if len(f) < 4 {
			continue
		}
		at, _ := time.Parse(time.RFC3339, f[2])
		list = append(list, commitLine{SHA: f[0], Author: f[1], At: at, Subject: f[3]})
	}
	return list, nil
}

type blobData struct {
	Ref, SHA, Path string
	Lines          []string
	Binary, Cut    bool
	Size           int
}

func (s *Sim) blobPage(w http.ResponseWriter, req *http.Request) {
	as := req.URL.Query().Get("as")
	s.mu.Lock()
	r, err := s.visible(req, as)
	var data blobData
	if err == nil {
		data, err = r.blob(req.PathValue("ref") + "/" + req.PathValue("path"))
	}
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, as, err)
		return
	}
	s.show(w, http.StatusOK, "blob", view{Title: data.Path + " at " + data.Ref, As: as, Repo: r.fullName(), Data: data})
}

// blob finds a file by REF/PATH. A branch's name may hold slashes, so that
// every one of them may be where the path begins.
func (r *repo) blob(refAndPath string) (blobData, error) {
	for i, c := range refAndPath {
		if c != '/' {
			continue
		}
		ref, path := refAndPath[:i], refAndPath[i+1:]
		sha, ok := r.commitOf(ref)
		if !ok {
			continue
		}
		content, err := r.git("cat-file", "blob", sha+":"+path)
		if err != nil {
			continue
		}
		data := blobData{Ref: ref, SHA: sha, Path: path, Size: len(content), Binary: strings.ContainsRune(content, 0)}
		if data.Binary {
			return data, nil
		}
		if data.Cut = len(content) > maxShown; data.Cut {
			content = content[:maxShown]
		}
		data.Lines = strings.Split(content, "\n")
		return data, nil
	}
	return blobData{}, notFound()
}
