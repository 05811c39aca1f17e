package githubsim_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"reconcilebot/bot/slacksim/peer"
	"reconcilebot/runbook/forge/githubsim"
)

// TestGitHubsOwnClientIsContent lets GitHub's client for Node do the whole
// job: it was written by others, for the real one.
func TestGitHubsOwnClientIsContent(t *testing.T) {
	folder := peer.Install(t, "@octokit/rest@22.0.1")
	o := open(t, githubsim.Options{}, githubsim.Protection{Reviews: 1, CodeOwners: true, Checks: []string{"validate"}, Ruleset: true})
	var logins []string
	for i := range 250 {
		login := fmt.Sprintf("p%03d", i)
		o.AddUser(githubsim.User{Login: login})
		logins = append(logins, login)
	}
	o.AddTeam("acme", "many", logins...)
	run := exec.CommandContext(t.Context(), peer.Node(t), "--test", "testdata/octokit/story.test.mjs")
	run.Env = append(os.Environ(), "PEER_FOLDER="+folder, "API="+o.url+"/api/v3", "BOT_TOKEN=ghp_bot", "CAROL_TOKEN=ghp_carol", "GWEN_TOKEN=ghp_gwen")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
