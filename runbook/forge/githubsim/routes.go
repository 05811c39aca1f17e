package githubsim

import "net/http"

// Whom an address is for, where no right of a token decides.
const (
	forAll    = "anybody"
	forPeople = "people"
	forApps   = "apps"
)

// route is an address, what a token needs for it, and what answers.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
type route struct {
	pattern, needs string
	f              endpoint
}

const api = "/api/v3"

// routes are the REST addresses, as GitHub Enterprise Server has them.
func (s *Sim) routes() *http.ServeMux {
	mux := http.NewServeMux()
	const repo = api + "/repos/{owner}/{repo}"
	for _, r := range []route{
		{"GET " + api + "/user", forPeople, s.getUser},
		{"GET " + api + "/users/{login}", forAll, s.getNamedUser},
		{"GET " + api + "/rate_limit", forAll, s.getRateLimit},
		{"GET " + api + "/meta", forAll, s.getMeta},
		{"GET " + api + "/orgs/{org}/teams/{team}/members", "members=read", s.getTeamMembers},

		{"GET " + api + "/app", forApps, s.getApp},
		{"GET " + api + "/app/installations", forApps, s.getInstallations},
		{"GET " + api + "/app/installations/{id}", forApps, s.getInstallation},
		{"POST " + api + "/app/installations/{id}/access_tokens", forApps, s.postToken},
		{"GET " + api + "/orgs/{org}/installation", forApps, s.getInstallationOf},
		{"GET " + api + "/users/{login}/installation", forApps, s.getInstallationOf},
		{"GET " + repo + "/installation", forApps, s.getInstallationOf},
		{"GET " + api + "/installation/repositories", "metadata=read", s.getInstalledRepos},

		{"GET " + repo, "metadata=read", s.getRepo},
		{"GET " + repo + "/collaborators", "metadata=read", s.getCollaborators},
		{"GET " + repo + "/collaborators/{login}", "metadata=read", s.getCollaborator},
		{"GET " + repo + "/collaborators/{login}/permission", "metadata=read", s.getPermission},
		{"GET " + repo + "/codeowners/errors", "contents=read", s.getOwnersErrors},
		{"GET " + repo + "/compare/{basehead...}", "contents=read", s.getCompare},
		{"GET " + repo + "/branches", "contents=read", s.getBranches},
		{"GET " + repo + "/branches/{branch...}", "contents=read", s.getBranch},
		{"GET " + repo + "/rules/branches/{branch...}", "metadata=read", s.getRules},
		{"GET " + repo + "/git/ref/{ref...}", "contents=read", s.getRef},
		{"POST " + repo + "/git/refs", "contents=write", s.postRef},
		{"PATCH " + repo + "/git/refs/{ref...}", "contents=write", s.patchRef},
		{"DELETE " + repo + "/git/refs/{ref...}", "contents=write", s.deleteRef},
		{"POST " + repo + "/git/blobs", "contents=write", s.postBlob},
		{"POST " + repo + "/git/trees", "contents=write", s.postTree},
		{"POST " + repo + "/git/commits", "contents=write", s.postCommit},
		{"GET " + repo + "/git/commits/{sha}", "contents=read", s.getGitCommit},
		{"GET " + repo + "/commits", "contents=read", s.getCommits},
		{"GET " + repo + "/commits/{sha}", "contents=read", s.getCommit},
		{"GET " + repo + "/contents/{path...}", "contents=read", s.getContents},
		{"GET " + repo + "/commits/{sha}/status", "statuses=read", s.getStatus},
		{"POST " + repo + "/statuses/{sha}", "statuses=write", s.postStatus},
		{"GET " + repo + "/commits/{sha}/check-runs", "checks=read", s.getRuns},
		{"POST " + repo + "/check-runs", "checks=write", s.postRun},
		{"PATCH " + repo + "/check-runs/{id}", "checks=write", s.patchRun},

		{"GET " + repo + "/pulls", "pull_requests=read", s.getPulls},
		{"POST " + repo + "/pulls", "pull_requests=write", s.postPull},
		{"GET " + repo + "/pulls/{number}", "pull_requests=read", s.getPull},
		{"PATCH " + repo + "/pulls/{number}", "pull_requests=write", s.patchPull},
		{"GET " + repo + "/pulls/{number}/files", "pull_requests=read", s.getPullFiles},
		{"GET " + repo + "/pulls/{number}/commits", "pull_requests=read", s.getPullCommits},
		{"GET " + repo + "/pulls/{number}/reviews", "pull_requests=read", s.getReviews},
		{"GET " + repo + "/pulls/{number}/comments", "pull_requests=read", s.getRemarks},
		{"POST " + repo + "/issues/{number}/assignees", "issues=write; pull_requests=write", s.postAssignees},
		{"POST " + repo + "/pulls/{number}/reviews", "pull_requests=write", s.postReview},
		{"PUT " + repo + "/pulls/{number}/reviews/{id}/dismissals", "pull_requests=write", s.putDismissal},
		{"POST " + repo + "/pulls/{number}/requested_reviewers", "pull_requests=write", s.postReviewers},
		{"PUT " + repo + "/pulls/{number}/merge", "contents=write", s.putMerge},
		{"PUT " + repo + "/pulls/{number}/update-branch", "pull_requests=write", s.putUpdateBranch},
		{"GET " + repo + "/issues/{number}/comments", "issues=read; pull_requests=read", s.getComments},
		{"POST " + repo + "/issues/{number}/comments", "issues=write; pull_requests=write", s.postComment},
		{"PATCH " + repo + "/issues/comments/{id}", "issues=write; pull_requests=write", s.patchComment},
		{"POST " + repo + "/issues/{number}/labels", "issues=write; pull_requests=write", s.postLabels},
	} {
		mux.HandleFunc(r.pattern, s.rest(r.needs, r.f))
	}
	mux.HandleFunc(api+"/", s.rest(forAll, func(*asked) (int, any, error) { return 0, nil, notFound() }))
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
