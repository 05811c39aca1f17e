package githubsim

import "net/http"

func (s *Sim) homePage(w http.ResponseWriter, req *http.Request)   { http.NotFound(w, req) }
func (s *Sim) repoPage(w http.ResponseWriter, req *http.Request)   { s.homeOrGit(w, req) }
func (s *Sim) blobPage(w http.ResponseWriter, req *http.Request)   { http.NotFound(w, req) }
func (s *Sim) commitPage(w http.ResponseWriter, req *http.Request) { http.NotFound(w, req) }
func (s *Sim) pullPage(w http.ResponseWriter, req *http.Request)   { http.NotFound(w, req) }
func (s *Sim) pullAct(w http.ResponseWriter, req *http.Request)    { http.NotFound(w, req) }
