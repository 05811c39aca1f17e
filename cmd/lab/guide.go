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
	fmt.Fprintf(&b, "Argo CD    %s   (admin, %s)\n", r.Argo.URL, r.Argo.Password)
	fmt.Fprintf(&b, "Logs       %s\n", filepath.Join(r.Dir, "logs"))
	fmt.Fprintf(&b, "The bot    %s\n\n", r.Bot.Command())
	for _, p := range world.People() {
		fmt.Fprintf(&b, "%-6s %s\n", p.Name, p.Role)
		if p.Kubernetes != "" {
			fmt.Fprintf(&b, "       %s\n", r.Kube.KubectlOf(p.Name))
		}
	}
	fmt.Fprintf(&b, `
What to try:

1. %[1]s is slow, and alice scales it by hand. Git still says 3:
     %[2]s -n %[3]s scale deployment/%[1]s --replicas=6
2. Open %[4]s as alice, go to #%[5]s and type:
     /reconcile drift %[1]s
3. Press "Adopt into Git", say why Git was bypassed, and submit.
4. Change to bob, open the thread and press "Approve".
5. Follow the link to the pull request, choose carol there, and approve it. The
   bot merges it, waits for Argo CD and posts the record in the thread.

Or, in place of 3: "Revert cluster", and see the three replicas come back.
As gwen, a guest, try to approve. As alice, try to approve what you asked for.

Ctrl-C ends everything.
`, w.App, r.Kube.KubectlOf(world.OnCall), w.Namespace(), r.Page, w.Channel)
	return b.String()
}
