package slacksim

import "net/http"

func (s *Sim) control(_ *http.ServeMux) {}

func (s *Sim) page(_ *http.ServeMux) {}
