package githubsim

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

type pullData struct {
	Number                  int
	Title, Author, State    string
	Head, Base, HeadSHA     string
	Body                    template.HTML
	Labels, Asked           []string
	Created, Merged, Closed time.Time
	MergedBy, MergeSHA      string
	Commits                 []commitLine
	Diff                    []*fileDiff
	Checks                  []checkLine
	Reviews                 []reviewLine
	Comments                []commentLine
	// Unmet is what the base branch still asks for, in words.
	Unmet   []string
	Methods []string
	People  []person
	// Problem says why the last button did nothing.
	Problem string
}

// person may be chosen as who looks.
type person struct {
	Login, Name string
	Chosen      bool
}

type checkLine struct {
	Name, State string // State is pending, success, failure, …
	Required    bool
}

type reviewLine struct {
	Author, State, SHA, Body string
	At                       time.Time
}

type commentLine struct {
	Author string
	Body   template.HTML
	At     time.Time
}

func (s *Sim) pullPage(w http.ResponseWriter, req *http.Request) {
	s.showPull(w, req, req.URL.Query().Get("as"), nil)
}

// showPull shows a pull request, with the reason why an act was refused if
// there is one.
func (s *Sim) showPull(w http.ResponseWriter, req *http.Request, as string, refused error) {
	s.mu.Lock()
	r, p, err := s.pullOf(req, as)
	var data pullData
	if err == nil {
		data, err = r.pullData(p, as)
	}
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, as, err)
		return
	}
	status := http.StatusOK
	if refused != nil {
		status, data.Problem = http.StatusInternalServerError, refused.Error()
		if f, ok := errors.AsType[*failure](refused); ok {
			status, data.Problem = f.status, f.inWords()
		}
	}
	s.show(w, status, "pull", view{Title: data.Title, As: as, Repo: r.fullName(), Data: data})
}

func (s *Sim) pullOf(req *http.Request, as string) (*repo, *pull, error) {
	r, err := s.visible(req, as)
	if err != nil {
		return nil, nil, err
	}
	p, ok := r.numbered(req.PathValue("number"))
	if !ok {
		return nil, nil, notFound()
	}
	return r, p, nil
}

func (r *repo) pullData(p *pull, as string) (pullData, error) {
	words := r.standing(p)
	data := pullData{
		Number: p.number, Title: p.title, Author: p.author, State: "open", Head: p.head, Base: p.base, HeadSHA: p.headSHA, Body: markdown(p.body),
		Labels: p.labels, Created: p.created, Merged: p.merged, Closed: p.closed, MergedBy: p.mergedBy, MergeSHA: p.mergeSHA,
		Methods: r.options.Methods, Checks: r.checkLines(p.headSHA, r.rules(p.base)), People: r.people(as),
	}
	switch {
	case !p.merged.IsZero():
		data.State = "merged"
	case !p.closed.IsZero():
		data.State = "closed"
	default:
		data.Unmet = r.unmet(p)
		if p.draft {
			data.Unmet = append([]string{"This pull request is still a draft."}, data.Unmet...)
		}
		if _, err := r.git("merge-tree", "--write-tree", p.baseSHA, p.headSHA); err != nil {
			data.Unmet = append([]string{"It conflicts with " + p.base + "."}, data.Unmet...)
		}
	}
	for _, login := range slices.Concat(p.askedUsers, p.askedTeams) {
		if words[login] == "" {
			data.Asked = append(data.Asked, login)
		}
	}
	for _, v := range p.reviews {
		data.Reviews = append(data.Reviews, reviewLine{v.author, v.state, v.sha, v.body, v.at})
	}
	for _, c := range p.comments {
		data.Comments = append(data.Comments, commentLine{c.author, markdown(c.body), c.at})
	}
	var err error
	if data.Commits, err = r.log(p.baseSHA + ".." + p.headSHA); err != nil {
		return data, err
	}
	data.Diff, err = r.diff("diff", p.baseSHA+"..."+p.headSHA)
	return data, err
}

// people are those who may be chosen: who can see the repository.
func (r *repo) people(as string) []person {
	var list []person
	for login, u := range r.sim.users {
		if r.may(login) >= Read {
			list = append(list, person{login, u.Name, login == as})
		}
	}
	slices.SortFunc(list, func(a, b person) int { return strings.Compare(a.Login, b.Login) })
	return list
}

// checkLines are a commit's checks and, before those, the required ones that
// nobody has reported.
func (r *repo) checkLines(sha string, rules *Protection) []checkLine {
	var list []checkLine
	required := func(name string) bool { return rules != nil && slices.Contains(rules.Checks, name) }
	for _, c := range r.runs[sha] {
		state := c.ended(r.sim.now())
		if state == "" {
			state = "pending"
		}
		list = append(list, checkLine{c.name, state, required(c.name)})
	}
	for name, st := range r.latest(sha) {
		list = append(list, checkLine{name, st.state, required(name)})
	}
	if rules != nil {
		for _, name := range rules.Checks {
			if !slices.ContainsFunc(list, func(c checkLine) bool { return c.Name == name }) {
				list = append(list, checkLine{name, "expected", true})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b checkLine) int { return strings.Compare(a.Name, b.Name) })
	return list
}
