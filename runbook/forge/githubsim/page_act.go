package githubsim

import (
	"net/http"
	"net/url"
	"strings"
)

// inWords is a refusal as a person reads it.
func (f *failure) inWords() string {
	words := []string{strings.TrimPrefix(f.message, "Unprocessable Entity: ")}
	for _, e := range f.errors {
		if e["message"] != "" {
			words = append(words, e["message"])
		}
	}
	return strings.Join(words, " ")
}

// pullAct does what a button says, as who is chosen next to it.
func (s *Sim) pullAct(w http.ResponseWriter, req *http.Request) {
	if s.foreign(req) {
		s.refuse(w, "", &failure{status: http.StatusForbidden, message: "This form was posted from another site, so that nothing was done."})
		return
	}
	req.Body = http.MaxBytesReader(w, req.Body, maxBody)
	if err := req.ParseForm(); err != nil {
		s.refuse(w, "", &failure{status: http.StatusBadRequest, message: "The form can't be read; go back and press the button again."})
		return
	}
	as := req.PostForm.Get("as")
	if err := s.act(req, as); err != nil {
		s.showPull(w, req, as, err)
		return
	}
	http.Redirect(w, req, req.URL.Path+"?"+url.Values{"as": {as}}.Encode(), http.StatusSeeOther)
}

func (s *Sim) act(req *http.Request, as string) error {
	if as == "" {
		return &failure{status: http.StatusUnprocessableEntity, message: "Choose who you are first."}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, p, err := s.pullOf(req, as)
	if err != nil {
		return err
	}
	switch action := req.PostForm.Get("action"); action {
	case "look":
	case "approve", "request_changes":
		if !p.closed.IsZero() {
			return &failure{status: http.StatusUnprocessableEntity, message: "This pull request has ended; a review changes nothing any more."}
		}
		if action == "request_changes" && strings.TrimSpace(req.PostForm.Get("comment")) == "" {
			return &failure{status: http.StatusUnprocessableEntity, message: "Say in the comment what should change."}
		}
		event := map[string]string{"approve": "APPROVE", "request_changes": "REQUEST_CHANGES"}[action]
		_, err = r.review(p, as, event, req.PostForm.Get("comment"))
	case "merge":
		if r.may(as) < Write {
			return &failure{status: http.StatusForbidden, message: as + " can read this repository, but not write to it."}
		}
		_, err = r.merge(p, as, req.PostForm.Get("method"), "", "", req.PostForm.Get("head"), false)
	default:
		err = &failure{status: http.StatusBadRequest, message: "That is no button of this page."}
	}
	return err
}
