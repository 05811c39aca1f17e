package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"reconcilebot/cmd/lab/rig"
	"reconcilebot/cmd/lab/world"
)

// guide tells a newcomer where everything is and what to try, in order.
func guide(r *rig.Rig) string {
	w := r.Worlds[0]
	var b strings.Builder
	fmt.Fprintf(&b, "Slack      %s   (choose at the top who you are)\n", r.Page)
	fmt.Fprintf(&b, "Git host   %s/%s/%s\n", r.GitPage, world.Owner, w.Repo)
	// Argo CD's Go module is without its web pages.
	fmt.Fprintf(&b, "Argo CD    %s/applications   (the lab's own page: Argo CD's UI is not in its Go module)\n", r.ArgoPage)
	fmt.Fprintf(&b, "           %s login %s --plaintext --username admin --password %s\n",
		r.Argo.CLI, strings.TrimPrefix(r.Argo.URL, "http://"), r.Argo.Password)
	if ticket := r.TicketAddress(w); ticket != "" {
		fmt.Fprintf(&b, "Ticket     %s   (the lab's own page of a Jira: what has arrived there)\n", ticket)
	}
	fmt.Fprintf(&b, "Logs       %s\n", filepath.Join(r.Dir, "logs"))
	if pid := r.Bot.PID(); pid != 0 {
		fmt.Fprintf(&b, "The bot    pid %d: kill -9 it at any moment; it is started again and goes on\n", pid)
	}
	b.WriteString("\n")
	for _, p := range world.People() {
		fmt.Fprintf(&b, "%-6s %s\n", p.Name, p.Role)
		if p.Kubernetes != "" {
			fmt.Fprintf(&b, "       %s\n", r.Kube.KubectlOf(p.Name))
		}
	}
	if r.Bot.PID() == 0 {
		fmt.Fprintf(&b, `
The bot is not started: -nobot leaves that to you. Do this first:

a. In another terminal:
     %s
b. As %s, in #%s, bind the channel to its incident:
     /reconcile incident %s
`, r.Bot.Command(), world.OnCall, w.Channel, strings.TrimSpace(w.Incident+" "+r.TicketAddress(w)))
	}
	fmt.Fprintf(&b, `
What to try:

1. %[1]s is slow, and alice scales it by hand. Git still says 3:
     %[2]s -n %[3]s scale deployment/%[1]s --replicas=6
2. Open %[4]s as alice, go to #%[5]s and type:
     /reconcile drift %[1]s
3. Press "Adopt into Git", say why Git was bypassed, and submit.
4. Change to bob, and press "Approve" on the card.
5. Follow the card's link to the pull request, choose carol there, and approve
   it. The bot merges it and waits for Argo CD; the card and its thread end with
   the record.

Or press "Revert cluster" in step 3, and see the three replicas come back. Before
step 4, try to approve as alice, who asked, and as gwen, who is a guest.

Ctrl-C ends everything.
`, w.App, r.Kube.KubectlOf(world.OnCall), w.Namespace(), r.Page, w.Channel)
	return b.String()
}
