package main

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// rendered is what kustomize makes of deploy/base, by kind and name. Each
// object is decoded strictly, so that a misspelt field is an error.
type rendered struct {
	t       *testing.T
	objects map[string][]byte
}

func renderBase(t *testing.T) rendered {
	t.Helper()
	result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../deploy/base")
	if err != nil {
		t.Fatalf("kustomize build deploy/base: %v", err)
	}
	r := rendered{t, map[string][]byte{}}
	for _, object := range result.Resources() {
		raw, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		name := object.GetName()
		if object.GetKind() == "ConfigMap" {
			name = name[:strings.LastIndex(name, "-")] // kustomize's hash
		}
		r.objects[object.GetKind()+"/"+name] = raw
	}
	return r
}

func (r rendered) into(what string, object any) {
	r.t.Helper()
	raw, ok := r.objects[what]
	if !ok {
		r.t.Fatalf("deploy/base has no %s", what)
	}
	if err := yaml.UnmarshalStrict(raw, object); err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

func TestBaseGivesReadingRightsOnly(t *testing.T) {
	r := renderBase(t)
	for what := range r.objects {
		kind, _, _ := strings.Cut(what, "/")
		if kind == "Secret" {
			t.Errorf("%s: a Secret is shipped", what)
		}
		if kind != "ClusterRole" && kind != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		r.into(what, &role)
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				if !slices.Contains([]string{"get", "list", "watch"}, verb) {
					t.Errorf("%s: verb %s on %v is not reading", what, verb, rule.Resources)
				}
			}
			for _, resource := range rule.Resources {
				if resource == "*" || strings.HasPrefix(resource, "secrets") || strings.Contains(resource, "/") {
					t.Errorf("%s: resource %s is too much", what, resource)
				}
			}
			if slices.Contains(rule.APIGroups, "*") || len(rule.NonResourceURLs) > 0 {
				t.Errorf("%s: rule %v is too wide", what, rule)
			}
		}
	}
	var binding rbacv1.ClusterRoleBinding
	r.into("ClusterRoleBinding/reconcilebot", &binding)
	if len(binding.Subjects) != 1 || binding.Subjects[0].Name != "reconcilebot" || binding.Subjects[0].Namespace != "reconcilebot" {
		t.Errorf("the rights go to %v", binding.Subjects)
	}
}

func TestBaseRunsOneBotAtATime(t *testing.T) {
	r := renderBase(t)
	var d appsv1.Deployment
	r.into("Deployment/reconcilebot", &d)
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Error("two processes could meet at one state file")
	}
	var pvc corev1.PersistentVolumeClaim
	r.into("PersistentVolumeClaim/reconcilebot", &pvc)
	pod := d.Spec.Template.Spec
	bot := pod.Containers[0]
	if bot.LivenessProbe.HTTPGet.Path != "/livez" || bot.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Error("the probes ask for other paths than the bot answers")
	}
	mounts := map[string]string{}
	for _, m := range bot.VolumeMounts {
		mounts[m.MountPath] = m.Name
	}
	for _, path := range []string{"/etc/reconcilebot/config.yaml", "/etc/reconcilebot/secrets", "/var/lib/reconcilebot", "/var/cache/reconcilebot", "/tmp"} {
		if mounts[path] == "" {
			t.Errorf("nothing is mounted at %s, which the config or the bot uses", path)
		}
	}
	var config corev1.ConfigMap
	r.into("ConfigMap/reconcilebot", &config)
	if config.Data["config.yaml"] == "" {
		t.Error("the ConfigMap has no config.yaml")
	}
}

// TestBaseIsRestricted holds the rules of the Pod Security Standard
// "restricted" (https://kubernetes.io/docs/concepts/security/pod-security-standards/).
func TestBaseIsRestricted(t *testing.T) {
	r := renderBase(t)
	var d appsv1.Deployment
	r.into("Deployment/reconcilebot", &d)
	pod := d.Spec.Template.Spec
	if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser != 65532 || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod's security context is %+v", pod.SecurityContext)
	}
	c := pod.Containers[0].SecurityContext
	if *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || !slices.Contains(c.Capabilities.Drop, "ALL") {
		t.Errorf("the container's security context is %+v", c)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		t.Error("the pod shares the node's namespaces")
	}
	var ns corev1.Namespace
	r.into("Namespace/reconcilebot", &ns)
	if ns.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("the namespace does not enforce the standard")
	}
}

func TestBaseFencesTheNetwork(t *testing.T) {
	var policy networkingv1.NetworkPolicy
	renderBase(t).into("NetworkPolicy/reconcilebot", &policy)
	if len(policy.Spec.PolicyTypes) != 2 {
		t.Errorf("policy types are %v, want both directions", policy.Spec.PolicyTypes)
	}
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port.String() == "probes" && len(rule.From) == 0 {
				t.Error("anybody may read the metrics")
			}
		}
	}
	for _, rule := range policy.Spec.Egress {
		if len(rule.Ports) == 0 {
			t.Errorf("the rule %v lets everything out", rule)
		}
	}
}
