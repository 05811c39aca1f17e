package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"reconcilebot/bot"
	"reconcilebot/cmd/reconcilebot/config"
	"reconcilebot/cmd/reconcilebot/policy"
	"reconcilebot/commands/access"
)

// deployedConfig is where deploy/base puts the config.
const deployedConfig = "/etc/reconcilebot/config.yaml"

// policyTest explains a verdict. What is refused ends with the code for that,
// so that a pipeline can hold a policy to what it should say.
func policyTest(ctx context.Context, c console, args []string) error {
	if len(args) == 0 || args[0] != "test" {
		return usageError{"policy knows one word: policy test --user WHO --command WORD --target CLUSTER/NAME"}
	}
	var o policy.Options
	var file, format string
	err := c.flags("policy test", args[1:], func(f *flag.FlagSet) {
		f.StringVar(&file, "config", deployedConfig, "the config `FILE`")
		f.StringVar(&o.User, "user", "", "`WHO` asks: a name, a Slack id, a GitHub login or a Kubernetes user")
		f.StringVar(&o.Command, "command", "", "the `WORD`: a command, a button, or a right like pause")
		f.StringVar(&o.Target, "target", "", "the target, as `CLUSTER/NAME`")
		f.StringVar(&o.AskedBy, "asked-by", "", "`WHO` asked for what is to be approved")
		f.StringVar(&o.MadeBy, "made-by", "", "`WHO` made the change that is to be approved")
		f.StringVar(&o.Repo, "repo", "", "the `URL` of the target's repository, for code owners")
		f.StringVar(&o.Branch, "branch", "", "the `BRANCH` that it follows; its default one if left out")
		f.StringVar(&o.Path, "path", "", "the `DIRECTORY` of its manifests")
		f.StringVar(&format, "o", "text", "the `FORMAT`: text or json")
	})
	switch {
	case err != nil:
		return err
	case o.User == "" || o.Command == "" || o.Target == "":
		return usageError{"policy test needs --user WHO, --command WORD and --target CLUSTER/NAME"}
	case !slices.Contains([]string{"text", "json"}, format):
		return usageError{fmt.Sprintf("policy test can't print %q; say text or json", format)}
	}
	cfg, err := config.LoadWithoutSecrets(file, c.getenv)
	var problems config.Problems
	if errors.As(err, &problems) {
		c.say("%v\n", problems)
		return errReported
	}
	if err != nil {
		return err
	}
	if err := askAround(cfg, &o); err != nil {
		return err
	}
	result, err := policy.Test(ctx, o)
	if err != nil {
		return err
	}
	if format == "json" {
		err = json.NewEncoder(c.stdout).Encode(result)
	} else {
		_, err = fmt.Fprint(c.stdout, result.Text())
	}
	if err == nil && !result.Allowed {
		err = errRefused
	}
	return err
}

// askAround sets up whom to ask about accounts and groups. Nobody is asked
// before the policy wants to know.
func askAround(cfg *config.Config, o *policy.Options) error {
	wire, err := bot.NewSlack(bot.SlackConfig{API: cfg.Slack.API, BotToken: cfg.Slack.BotToken.Value, AppToken: cfg.Slack.AppToken.Value})
	if err != nil {
		return err
	}
	host, err := openGitHub(cfg.GitHub)
	if err != nil {
		return err
	}
	for _, cluster := range cfg.Clusters {
		o.Clusters = append(o.Clusters, cluster.Name)
	}
	o.Policy = policyOf(cfg)
	o.Policy.Lists = groups{slack: wire, host: host, repos: newRepositories(cfg.GitHub, host)}
	o.Home = cfg.Slack.Team
	directory := bot.NewDirectory(wire, time.Now)
	o.Account = func(ctx context.Context, id string) (access.Member, error) {
		m, err := directory.Member(ctx, id, "")
		if err == nil && o.Home == "" {
			return m, errors.New("the config names no slack.team to compare it with")
		}
		return m, err
	}
	return nil
}
