package githubsim

import "net/http"

// routes are the REST addresses, as GitHub Enterprise Server has them.
func (s *Sim) routes() *http.ServeMux {
	mux := http.NewServeMux()
	const repo = "/api/v3/repos/{owner}/{repo}"
	for pattern, f := range map[string]endpoint{
		"GET /api/v3/user":                            s.getUser,
		"GET /api/v3/users/{login}":                   s.getNamedUser,
		"GET /api/v3/rate_limit":                      s.getRateLimit,
		"GET /api/v3/meta":                            s.getMeta,
		"GET /api/v3/orgs/{org}/teams/{team}/members": s.getTeamMembers,

		"GET " + repo: s.getRepo,
		"GET " + repo + "/collaborators/{login}/permission": s.getPermission,
		"GET " + repo + "/collaborators":                    s.getCollaborators,
		"GET " + repo + "/collaborators/{login}":            s.getCollaborator,
		"GET " + repo + "/codeowners/errors":                s.getOwnersErrors,
		"GET " + repo + "/compare/{basehead...}":            s.getCompare,
		"PATCH " + repo + "/git/refs/{ref...}":              s.patchRef,
		"GET " + repo + "/branches":                         s.getBranches,
		"GET " + repo + "/branches/{branch...}":             s.getBranch,
		"GET " + repo + "/rules/branches/{branch...}":       s.getRules,
		"GET " + repo + "/git/ref/{ref...}":                 s.getRef,
		"POST " + repo + "/git/refs":                        s.postRef,
		"DELETE " + repo + "/git/refs/{ref...}":             s.deleteRef,
		"GET " + repo + "/commits":                          s.getCommits,
		"GET " + repo + "/commits/{sha}":                    s.getCommit,
		"GET " + repo + "/contents/{path...}":               s.getContents,
		"GET " + repo + "/commits/{sha}/status":             s.getStatus,
		"GET " + repo + "/commits/{sha}/check-runs":         s.getRuns,
		"POST " + repo + "/statuses/{sha}":                  s.postStatus,
		"POST " + repo + "/check-runs":                      s.postRun,
		"PATCH " + repo + "/check-runs/{id}":                s.patchRun,

		"GET " + repo + "/pulls":                                  s.getPulls,
		"POST " + repo + "/pulls":                                 s.postPull,
		"GET " + repo + "/pulls/{number}":                         s.getPull,
		"PATCH " + repo + "/pulls/{number}":                       s.patchPull,
		"GET " + repo + "/pulls/{number}/files":                   s.getPullFiles,
		"GET " + repo + "/pulls/{number}/commits":                 s.getPullCommits,
		"GET " + repo + "/pulls/{number}/reviews":                 s.getReviews,
		"POST " + repo + "/pulls/{number}/reviews":                s.postReview,
		"POST " + repo + "/pulls/{number}/requested_reviewers":    s.postReviewers,
		"PUT " + repo + "/pulls/{number}/merge":                   s.putMerge,
		"PUT " + repo + "/pulls/{number}/update-branch":           s.putUpdateBranch,
		"PUT " + repo + "/pulls/{number}/reviews/{id}/dismissals": s.putDismissal,
		"PATCH " + repo + "/issues/comments/{id}":                 s.patchComment,
		"GET " + repo + "/issues/{number}/comments":               s.getComments,
		"POST " + repo + "/issues/{number}/comments":              s.postComment,
		"POST " + repo + "/issues/{number}/labels":                s.postLabels,
	} {
		mux.HandleFunc(pattern, s.rest(f))
	}
	mux.HandleFunc("/api/v3/", s.rest(func(*asked) (int, any, error) { return 0, nil, notFound() }))
	return mux
}

// pageRoutes are the addresses that people open, and those of Git.
func (s *Sim) pageRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{owner}/{repo}/pull/{number}", s.pullPage)
	mux.HandleFunc("POST /{owner}/{repo}/pull/{number}", s.pullAct)
	mux.HandleFunc("GET /{owner}/{repo}/commit/{sha}", s.commitPage)
	mux.HandleFunc("GET /{owner}/{repo}/blob/{ref}/{path...}", s.blobPage)
	mux.HandleFunc("GET /{owner}/{repo}", s.repoPage)
	mux.HandleFunc("GET /-/page.css", serveStyle)
	mux.HandleFunc("GET /", s.homeOrGit)
	mux.HandleFunc("POST /", s.serveGit)
	return mux
}

// homeOrGit tells a clone's address from a person's.
func (s *Sim) homeOrGit(w http.ResponseWriter, req *http.Request) {
	if _, _, ok := splitGit(req.URL.Path); ok {
		s.serveGit(w, req)
		return
	}
	s.homePage(w, req)
}
