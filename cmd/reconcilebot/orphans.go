package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/drift"
)

// strays reports what no target declares, in a terminal, with the rights of
// whoever calls it.
func strays(ctx context.Context, c console, args []string) error {
	var kubeconfig, context, namespace, output string
	err := c.flags("orphans", args, func(f *flag.FlagSet) {
		f.StringVar(&kubeconfig, "kubeconfig", c.getenv("KUBECONFIG"), "the kubeconfig `FILE`; $KUBECONFIG if left out")
		f.StringVar(&context, "context", "", "the `CONTEXT` in it; its current one if left out")
		f.StringVar(&namespace, "namespace", "", "look at one `NAMESPACE` only")
		f.StringVar(&output, "o", "text", "text, markdown or json")
	})
	switch {
	case err != nil:
		return err
	case kubeconfig == "":
		return usageError{"orphans needs --kubeconfig FILE, or KUBECONFIG in the environment"}
	case output != "text" && output != "markdown" && output != "json":
		return usageError{fmt.Sprintf("orphans -o %s: there are text, markdown and json", output)}
	}
	in, err := cluster.New(cluster.Config{Kubeconfig: kubeconfig, Context: context, UserAgent: userAgent})
	if err != nil {
		return err
	}
	report, err := drift.FindOrphans(ctx, context, in, namespace, nil)
	if err != nil {
		return err
	}
	var text string
	switch output {
	case "json":
		raw, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		text = string(raw) + "\n"
	case "markdown":
		text = strayTable(report)
	default:
		text = strayText(report, time.Now())
	}
	_, err = fmt.Fprint(c.stdout, text)
	return err
}

var weights = map[drift.Weight]string{drift.Data: "hard to bring back", drift.Running: "does the work", drift.Other: "the rest"}

// strayHead is what stands above a list, strayFoot what below.
func strayHead(r drift.Orphans) string {
	where := "the cluster"
	if r.Namespace != "" {
		where = "the namespace " + r.Namespace
	}
	return fmt.Sprintf("%d objects in %s are declared by no target; %d are, by %d targets.\n", len(r.List), where, r.Declared, r.Targets)
}

func strayFoot(r drift.Orphans) string {
	if len(r.Left) == 0 {
		return ""
	}
	return "Left out, because you may not list them: " + strings.Join(r.Left, ", ") + "\n"
}

func strayText(r drift.Orphans, now time.Time) string {
	var b strings.Builder
	b.WriteString(strayHead(r))
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	last := drift.Weight(-1)
	for _, o := range r.List {
		if o.Weight != last {
			fmt.Fprintf(t, "\n%s\n", strings.ToUpper(weights[o.Weight]))
			last = o.Weight
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", o.Kind, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), o.By, age(now.Sub(o.Created)))
	}
	_ = t.Flush() // it writes to memory
	b.WriteString("\n" + strayFoot(r))
	return b.String()
}

func age(d time.Duration) string {
	if d < 48*time.Hour {
		return d.Round(time.Minute).String()
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}

func strayTable(r drift.Orphans) string {
	var b strings.Builder
	b.WriteString("# What a rebuild from Git would lose\n\n" + strayHead(r) + "\n| matters | kind | namespace | name | made by | created |\n|---|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	for _, o := range r.List {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", weights[o.Weight], cell(o.Kind), cell(o.Namespace), cell(o.Name), cell(o.By), o.Created.Format(time.DateOnly))
	}
	if foot := strayFoot(r); foot != "" {
		b.WriteString("\n" + foot)
	}
	return b.String()
}
