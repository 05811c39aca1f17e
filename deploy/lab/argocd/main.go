// Command argocd is Argo CD in one file: application-controller, repo-server,
// server, applicationset-controller and the command line. The name of the link
// that it is started by says which of them to be, as in Argo CD's own image.
//
// It must never be more than Argo CD's own commands: what the lab proves is
// proved on the real thing.
//
// It is a module of its own because Argo CD compiles with its own set of
// replaced versions only, and because none of it belongs into the product.
//
// Why not Argo CD's own main package: its controller offers metrics on every
// interface of the machine, and no flag says otherwise.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	controller "github.com/argoproj/argo-cd/v2/cmd/argocd-application-controller/commands"
	applicationset "github.com/argoproj/argo-cd/v2/cmd/argocd-applicationset-controller/commands"
	gitaskpass "github.com/argoproj/argo-cd/v2/cmd/argocd-git-ask-pass/commands"
	reposerver "github.com/argoproj/argo-cd/v2/cmd/argocd-repo-server/commands"
	server "github.com/argoproj/argo-cd/v2/cmd/argocd-server/commands"
	cli "github.com/argoproj/argo-cd/v2/cmd/argocd/commands"
)

var programs = map[string]func() *cobra.Command{
	"argocd":                           cli.NewCommand,
	"argocd-application-controller":    controller.NewCommand,
	"argocd-applicationset-controller": applicationset.NewCommand,
	"argocd-git-ask-pass":              gitaskpass.NewCommand,
	"argocd-repo-server":               reposerver.NewCommand,
	"argocd-server":                    server.NewCommand,
}

func main() {
	name := filepath.Base(os.Args[0])
	// Argo CD starts itself under this name to answer git's question for a
	// password.
	if as := os.Getenv("ARGOCD_BINARY_NAME"); as != "" {
		name = as
	}
	logrus.AddHook(withoutMetrics{})
	program, ok := programs[name]
	if !ok {
		program = cli.NewCommand
	}
	if err := program().Execute(); err != nil {
		os.Exit(1)
	}
}

// withoutMetrics lets the controller live on when it is given the port -1 for
// its metrics: the goroutine that would serve them reports an invalid port as
// fatal, and ends here instead of ending the program.
type withoutMetrics struct{}

func (withoutMetrics) Levels() []logrus.Level { return []logrus.Level{logrus.FatalLevel} }

func (withoutMetrics) Fire(e *logrus.Entry) error {
	if strings.Contains(e.Message, "address -1: invalid port") {
		runtime.Goexit()
	}
	return nil
}
