package scenario

import "reconcilebot/cmd/lab/world"

// What a card says of who made a change.
const (
	byAlice   = "by alice@example.com, kubectl "
	nextOne   = "it stays until the next commit on main, which will "
	invisible = "Argo CD takes no notice of it, and no sync removes it"
	undoneNow = "undone already"
)

// Fields of the Deployment.
const (
	containerPath = "spec.template.spec.containers[name=web]"
	imagePath     = containerPath + ".image"
	levelPath     = containerPath + ".env[name=LOG_LEVEL].value"
	memoryPath    = containerPath + ".resources.limits.memory"
)

func inDeployment(path, git, live string) spot {
	return spot{kind: "Deployment", name: "$APP", path: path, git: git, live: live}
}

func inSettings(key, git, live string) spot {
	return spot{kind: "ConfigMap", name: "$APP-settings", path: "data." + key, git: git, live: live}
}

func inService(path, git, live string) spot {
	return spot{kind: "Service", name: "$APP", path: path, git: git, live: live}
}

// patch is a deed of alice's.
func patch(kindName, kind, text string) deed {
	return alice("patch", kindName, "--type="+kind, "-p", text)
}

// driftCases is the table. First what Argo CD sees and the next commit undoes,
// then what it does not see, then the other settings of the Application, then
// who, then what is nobody's change.
func driftCases() []driftCase {
	return []driftCase{
		{name: "scale", does: "replicas changed",
			hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"spec.replicas  3 → 6", byAlice + "scale", nextOne + "put it back to 3"}, ends: untilCommit},
		{name: "image", does: "an image changed",
			hands: []deed{alice("set", "image", "deployment/$APP", "web=ghcr.io/acme/payments-web:2.14.2")},
			at:    inDeployment(imagePath, "ghcr.io/acme/payments-web:2.14.3", "ghcr.io/acme/payments-web:2.14.2"),
			says:  []string{imagePath, ":2.14.3 → ghcr.io/acme/payments-web:2.14.2", byAlice + "set", nextOne}, ends: untilCommit},
		{name: "env-changed", does: "an environment variable changed",
			hands: []deed{alice("set", "env", "deployment/$APP", "LOG_LEVEL=debug")}, at: inDeployment(levelPath, "info", "debug"),
			says: []string{levelPath + "  info → debug", byAlice, nextOne + "put it back to info"}, ends: untilCommit},
		{name: "env-removed", does: "an environment variable removed",
			hands: []deed{alice("set", "env", "deployment/$APP", "LOG_LEVEL-")}, at: inDeployment(levelPath, "info", ""),
			says: []string{containerPath + ".env  removed", byAlice, nextOne + "put it back"}, ends: untilCommit},
		{name: "limit-changed", does: "a limit changed",
			hands: []deed{alice("set", "resources", "deployment/$APP", "--limits=memory=1Gi")}, at: inDeployment(memoryPath, "512Mi", "1Gi"),
			says: []string{memoryPath + "  512Mi → 1Gi", byAlice + "set", nextOne + "put it back to 512Mi"}, ends: untilCommit},
		{name: "limit-removed", does: "a limit removed by a JSON patch",
			hands: []deed{patch("deployment/$APP", "json", `[{"op":"remove","path":"/spec/template/spec/containers/0/resources/limits/memory"}]`)},
			at:    inDeployment(memoryPath, "512Mi", ""),
			says:  []string{"resources.limits", "removed", byAlice + "patch", nextOne + "put it back"}, ends: untilCommit},
		{name: "probe", does: "a probe's period changed",
			hands: []deed{patch("deployment/$APP", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"web","readinessProbe":{"periodSeconds":30}}]}}}}`)},
			at:    inDeployment(containerPath+".readinessProbe.periodSeconds", "5", "30"),
			says:  []string{"readinessProbe.periodSeconds  5 → 30", byAlice + "patch", nextOne + "put it back to 5"}, ends: untilCommit},
		{name: "configmap-value", does: "a ConfigMap's value changed",
			hands: []deed{patch("configmap/$APP-settings", "merge", `{"data":{"CHECKOUT_TIMEOUT":"90s"}}`)}, at: inSettings("CHECKOUT_TIMEOUT", "30s", "90s"),
			says: []string{"data.CHECKOUT_TIMEOUT  30s → 90s", byAlice + "patch", nextOne + "put it back to 30s"}, ends: untilCommit},
		{name: "configmap-key-removed", does: "a ConfigMap's key removed",
			hands: []deed{patch("configmap/$APP-settings", "merge", `{"data":{"LEDGER_POOL":null}}`)}, at: inSettings("LEDGER_POOL", "20", ""),
			says: []string{"data.LEDGER_POOL  removed; Git has 20", nextOne + "put it back"}, ends: untilCommit},
		{name: "label-changed", does: "a label changed",
			hands: []deed{alice("label", "deployment/$APP", "team=platform", "--overwrite")}, at: inDeployment("metadata.labels.team", "payments", "platform"),
			says: []string{"metadata.labels.team  payments → platform", byAlice + "label", nextOne + "put it back to payments"}, ends: untilCommit},
		{name: "service-port", does: "a port that is a name became a number",
			hands: []deed{patch("service/$APP", "strategic", `{"spec":{"ports":[{"port":80,"targetPort":8081}]}}`)}, at: inService("spec.ports[port=80].targetPort", "http", "8081"),
			says: []string{"spec.ports[port=80].targetPort  http → 8081", byAlice + "patch", nextOne + "put it back to http"}, ends: untilCommit},
		{name: "selector", does: "a Service's selector changed",
			hands: []deed{patch("service/$APP", "merge", `{"spec":{"selector":{"app":"canary"}}}`)}, at: inService("spec.selector.app", "$APP", "canary"),
			says: []string{"spec.selector.app", "→ canary", byAlice + "patch", nextOne + "put it back"}, ends: untilCommitToName},
		{name: "object-deleted", does: "an object deleted",
			hands: []deed{alice("delete", "service/$APP")}, at: inService("spec.ports[port=80].targetPort", "http", ""),
			says: []string{"Service", "the whole object: in Git, missing in the cluster", byAlice + "delete", nextOne + "create it again"}, ends: untilBack},
		{name: "object-created", does: "an object created with the application's mark, where unknown objects are pruned",
			hands: []deed{alice("create", "configmap", "$APP-extra", "--from-literal=A=b"), alice("label", "configmap/$APP-extra", "app.kubernetes.io/instance=$APP")},
			at:    spot{kind: "ConfigMap", name: "$APP-extra", path: "data.A", live: "b"},
			says:  []string{"ConfigMap", "$APP-extra", "the whole object: in the cluster, in no Git", byAlice + "create", nextOne + "delete it"}, ends: untilGone},
		{name: "object-created-no-prune", does: "an object created with the application's mark, where nothing is pruned",
			given: []func(*story){pruneOff},
			hands: []deed{alice("create", "configmap", "$APP-extra", "--from-literal=A=b"), alice("label", "configmap/$APP-extra", "app.kubernetes.io/instance=$APP")},
			at:    spot{kind: "ConfigMap", name: "$APP-extra", path: "data.A", live: "b"},
			says:  []string{"$APP-extra", "the whole object: in the cluster, in no Git", "It is in no Git, and Argo CD does not prune here"}, ends: outlivesCommit},
		{name: "many", does: "several fields of several objects changed at once",
			hands: []deed{
				alice("scale", "deployment/$APP", "--replicas=6"), alice("set", "env", "deployment/$APP", "LOG_LEVEL=debug"),
				patch("configmap/$APP-settings", "merge", `{"data":{"CHECKOUT_TIMEOUT":"90s"}}`),
			},
			at:   inDeployment(levelPath, "info", "debug"),
			says: []string{"3 changes made by hand", "3 → 6", "info → debug", "30s → 90s", nextOne}, ends: untilCommit},

		// What Argo CD shows as Synced.
		{name: "env-added", does: "an environment variable added",
			hands: []deed{alice("set", "env", "deployment/$APP", "FEATURE_QUEUE=off")}, at: inDeployment(containerPath+".env[name=FEATURE_QUEUE].value", "", "off"),
			says: []string{"env[name=FEATURE_QUEUE]", "added", byAlice, invisible, "invisible to Argo CD"}, ends: outlivesCommit},
		{name: "sidecar-added", does: "a container added",
			hands: []deed{patch("deployment/$APP", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"debug","image":"busybox:1.36"}]}}}}`)},
			at:    inDeployment("spec.template.spec.containers[name=debug].image", "", "busybox:1.36"),
			says:  []string{"containers[name=debug]", "added", byAlice + "patch", invisible}, ends: outlivesCommit},
		{name: "limit-added", does: "a limit added",
			hands: []deed{alice("set", "resources", "deployment/$APP", "--limits=cpu=500m")}, at: inDeployment(containerPath+".resources.limits.cpu", "", "500m"),
			says: []string{"resources.limits.cpu  added: 500m", byAlice + "set", invisible}, ends: outlivesCommit},
		{name: "configmap-key-added", does: "a ConfigMap's key added",
			hands: []deed{patch("configmap/$APP-settings", "merge", `{"data":{"RETRIES":"9"}}`)}, at: inSettings("RETRIES", "", "9"),
			says: []string{"data.RETRIES  added: 9", byAlice + "patch", invisible}, ends: outlivesCommit},
		{name: "label-added", does: "a label added",
			hands: []deed{alice("label", "deployment/$APP", "incident=yes")}, at: inDeployment("metadata.labels.incident", "", "yes"),
			says: []string{"metadata.labels.incident  added: yes", byAlice + "label", invisible}, ends: outlivesCommit},
		{name: "annotation-added", does: "an annotation added",
			hands: []deed{alice("annotate", "service/$APP", "acme.example.com/why=queue")}, at: inService(`metadata.annotations["acme.example.com/why"]`, "", "queue"),
			says: []string{"acme.example.com/why", "added: queue", byAlice + "annotate", invisible}, ends: outlivesCommit},
		{name: "rollout-paused", does: "a rollout paused",
			hands: []deed{alice("rollout", "pause", "deployment/$APP")}, at: inDeployment("spec.paused", "", "true"),
			says: []string{"spec.paused  added: true", byAlice + "rollout", invisible}, ends: stands},
		{name: "toleration-added", does: "a toleration added",
			hands: []deed{patch("deployment/$APP", "strategic", `{"spec":{"template":{"spec":{"tolerations":[{"key":"spot","operator":"Exists"}]}}}}`)},
			at:    inDeployment("spec.template.spec.tolerations[0].key", "", "spot"),
			says:  []string{"spec.template.spec.tolerations", "added", byAlice + "patch", invisible}, ends: outlivesCommit},
		{name: "command-added", does: "a command added where Git has none",
			hands: []deed{patch("deployment/$APP", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"web","command":["/web","--safe-mode"]}]}}}}`)},
			at:    inDeployment(containerPath+".command[1]", "", "--safe-mode"),
			says:  []string{containerPath + ".command", "added", byAlice + "patch", invisible}, ends: outlivesCommit},

		// Other settings of the Application.
		{name: "self-heal-scale", does: "self-heal undid a scale before anybody looked",
			given: []func(*story){selfHeal}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{undoneNow, "spec.replicas  3 → 6", byAlice + "scale", "undid it"}, late: true, ends: undoneAlready},
		{name: "self-heal-image", does: "self-heal undid an image before anybody looked",
			given: []func(*story){selfHeal},
			hands: []deed{alice("set", "image", "deployment/$APP", "web=ghcr.io/acme/payments-web:2.14.2")},
			at:    inDeployment(imagePath, "ghcr.io/acme/payments-web:2.14.3", "ghcr.io/acme/payments-web:2.14.2"),
			says:  []string{undoneNow, imagePath, "→ ghcr.io/acme/payments-web:2.14.2", byAlice + "set", "undid it"}, late: true, ends: undoneAlready},
		{name: "self-heal-env-removed", does: "self-heal undid that a variable was removed",
			given: []func(*story){selfHeal}, hands: []deed{alice("set", "env", "deployment/$APP", "LOG_LEVEL-")}, at: inDeployment(levelPath, "info", ""),
			says: []string{undoneNow, "env", "removed", byAlice, "undid it"}, late: true, ends: undoneAlready},
		{name: "self-heal-json-patch", does: "self-heal undid a JSON patch",
			given: []func(*story){selfHeal},
			hands: []deed{patch("deployment/$APP", "json", `[{"op":"replace","path":"/spec/template/spec/containers/0/resources/limits/memory","value":"1Gi"}]`)},
			at:    inDeployment(memoryPath, "512Mi", "1Gi"),
			says:  []string{undoneNow, memoryPath + "  512Mi → 1Gi", byAlice + "patch", "undid it"}, late: true, ends: undoneAlready},
		{name: "self-heal-deleted", does: "self-heal created again what was deleted",
			given: []func(*story){selfHeal}, hands: []deed{alice("delete", "service/$APP")}, at: inService("spec.ports[port=80].targetPort", "http", ""),
			says: []string{undoneNow, "Service", byAlice + "delete", "created it again"}, late: true, ends: undoneAlready},
		{name: "self-heal-env-added", does: "self-heal leaves what was added",
			given: []func(*story){selfHeal}, hands: []deed{alice("set", "env", "deployment/$APP", "FEATURE_QUEUE=off")},
			at:   inDeployment(containerPath+".env[name=FEATURE_QUEUE].value", "", "off"),
			says: []string{"env[name=FEATURE_QUEUE]", "added", byAlice, invisible}, not: []string{undoneNow}, ends: outlivesCommit},
		{name: "sync-off-scale", does: "with automated sync off a commit leaves it and a sync undoes it",
			given: []func(*story){syncOff}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"3 → 6", byAlice + "scale", "it stays until somebody syncs $APP, which will put it back to 3"}, ends: untilSync},
		{name: "sync-off-env-added", does: "with automated sync off a sync leaves what was added",
			given: []func(*story){syncOff}, hands: []deed{alice("set", "env", "deployment/$APP", "FEATURE_QUEUE=off")},
			at:   inDeployment(containerPath+".env[name=FEATURE_QUEUE].value", "", "off"),
			says: []string{"env[name=FEATURE_QUEUE]", byAlice, invisible}, ends: outlivesCommit},
		{name: "moved-head", does: "a commit that Argo CD has not seen undoes it although self-heal is off",
			given: []func(*story){(*story).lands}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"3 → 6", "as soon as it looks at main again", "there is a commit on it that has not been synced"}, ends: untilLook},
		{name: "pinned", does: "an Application that follows one commit is left alone by all others",
			given: []func(*story){pins}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"3 → 6", byAlice + "scale", "it stays until the target moves from"}, ends: pinnedStands},

		{name: "new-source", does: "a source that was changed and not synced since undoes the next change",
			given: []func(*story){(*story).hotPatched}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			late: true, says: []string{undoneNow, "spec.replicas  3 → 6", byAlice + "scale", "undid it"}, ends: undoneAlready},
		{name: "parent-managed", does: "what somebody changed of an Application itself is undone by its parent, which heals",
			given: []func(*story){parented, mayEditApplications},
			hands: []deed{{world.Platform, []string{"--namespace=argocd", "patch", "application/$APP", "--type=merge", "-p", `{"spec":{"source":{"directory":{"recurse":true}}}}`}}},
			at:    spot{kind: "Application", name: "$APP", path: "spec.source.directory.recurse", live: "true"},
			says:  []string{"The Application itself differs from Git", "$APP-apps declares it", "spec.source.directory", "added", "by carol@example.com, kubectl patch", invisible, "/reconcile drift $APP-apps"}, ends: stands},
		{name: "parent-undoes", does: "a target revision set by hand is undone by the parent",
			given: []func(*story){parented, mayEditApplications},
			hands: []deed{{world.Platform, []string{"--namespace=argocd", "patch", "application/$APP", "--type=merge", "-p", `{"spec":{"syncPolicy":{"automated":{"selfHeal":true}}}}`}}},
			at:    spot{kind: "Application", name: "$APP", path: "spec.syncPolicy.automated.selfHeal", git: "false", live: "true"},
			late:  true, says: []string{"Nothing differs from Git", "changed by hand and undone by Argo CD; what it was is not kept"}, ends: undoneAlready},

		// Who did it.
		{name: "two-hands", does: "two people changed one object",
			hands: []deed{alice("scale", "deployment/$APP", "--replicas=6"), {world.AppOwner, []string{"set", "env", "deployment/$APP", "LOG_LEVEL=debug"}}},
			at:    inDeployment(levelPath, "info", "debug"),
			says:  []string{"by alice@example.com, kubectl scale", "by bob@example.com, kubectl"}, ends: untilCommit},
		{name: "impersonated", does: "who acted in another's name is named beside it",
			given: []func(*story){impersonates},
			hands: []deed{{world.Platform, []string{"--as=alice@example.com", "--as-group=sre", "scale", "deployment/$APP", "--replicas=6"}}},
			at:    inDeployment("spec.replicas", "3", "6"),
			says:  []string{"by alice@example.com, kubectl scale", "Through carol@example.com, which acted in this name"}, ends: untilCommit},
		{name: "last-hand", does: "of two changes of one field the last one counts",
			hands: []deed{alice("scale", "deployment/$APP", "--replicas=6"), {world.AppOwner, []string{"scale", "deployment/$APP", "--replicas=5"}}},
			at:    inDeployment("spec.replicas", "3", "5"),
			says:  []string{"3 → 5", "by bob@example.com, kubectl scale"}, not: []string{"by alice@"}, ends: untilCommit},
		{name: "server-side-apply", does: "a field taken over by server-side apply",
			hands: []deed{{world.OnCall, []string{"apply", "--server-side", "--force-conflicts", "-f", "$FILE"}}},
			given: []func(*story){file(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"$APP"},"spec":{"replicas":6}}`)},
			at:    inDeployment("spec.replicas", "3", "6"),
			says:  []string{"3 → 6", byAlice + "apply --server-side", nextOne}, ends: untilCommit},

		// What is nobody's change, or can't be judged.
		{name: "autoscaler", does: "replicas that an autoscaler owns are nobody's change",
			given: []func(*story){applied(autoscalerYAML)}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=5")},
			at:   inDeployment("spec.replicas", "3", "5"),
			says: []string{"Nothing differs from Git", "owned by the autoscaler $APP"}, not: []string{"Adopt"}, ends: stands},
		{name: "restarted", does: "a restart is no change of what Git says",
			hands: []deed{alice("rollout", "restart", "deployment/$APP")}, at: inDeployment("spec.replicas", "3", "3"),
			says: []string{"Nothing differs from Git", "restarted by hand"}, ends: stands},
		{name: "same-meaning", does: "the same quantity in other words is no change",
			hands: []deed{alice("set", "resources", "deployment/$APP", "--limits=memory=524288Ki")}, at: inDeployment(memoryPath, "512Mi", "524288Ki"),
			says: []string{"Nothing differs from Git"}, not: []string{"Adopt"}},
		{name: "hiding-rule", does: "a rule that ignores what people write is pointed out",
			given: []func(*story){hidden}, hands: []deed{alice("set", "env", "deployment/$APP", "LOG_LEVEL=debug")}, at: inDeployment(levelPath, "info", "debug"),
			says: []string{"Nothing differs from Git", "A rule hides changes", "whatever kubectl-set, kubectl writes to Deployment"}, ends: stands},
		{name: "secret", does: "a Secret's value is changed and shown nowhere",
			given: []func(*story){inGitToo(map[string]string{"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: $APP-db}\nstringData: {password: first-canary-value}\n"})},
			hands: []deed{patch("secret/$APP-db", "merge", `{"stringData":{"password":"second-canary-value"}}`)},
			at:    spot{kind: "Secret", name: "$APP-db", path: "data.password", git: "Zmlyc3QtY2FuYXJ5LXZhbHVl", live: "c2Vjb25kLWNhbmFyeS12YWx1ZQ=="},
			says:  []string{"Secret", "data.password", "its value is secret and not shown", nextOne},
			not:   []string{"canary", "c2Vjb25k", "Zmlyc3Q"}, ends: untilCommit},
		{name: "skipped", does: "an Application that Argo CD is told to skip is not judged",
			given: []func(*story){skips}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"What differs can't be judged", "skip-reconcile"}, not: []string{"Adopt into Git"}, ends: stands},
		{name: "broken-render", does: "an Application whose manifests don't render is not judged",
			given: []func(*story){breaks}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"What differs can't be judged", "ComparisonError"}, not: []string{"Adopt into Git"}, ends: stands},
		{name: "shared", does: "an object that two Applications own is not judged",
			given: []func(*story){twin}, hands: []deed{alice("scale", "deployment/$APP", "--replicas=6")}, at: inDeployment("spec.replicas", "3", "6"),
			says: []string{"What differs can't be judged", "more than one Application owns"}, not: []string{"Adopt into Git"}, ends: stands},
	}
}

const autoscalerYAML = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: $APP, namespace: $NAMESPACE}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: $APP}
  minReplicas: 2
  maxReplicas: 9
`
