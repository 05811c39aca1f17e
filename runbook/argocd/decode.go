package argocd

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// decode makes an App of the server's JSON and remembers its project.
func (c *Client) decode(raw json.RawMessage) (App, error) {
	var in v1alpha1.Application
	if err := json.Unmarshal(raw, &in); err != nil {
		return App{}, fmt.Errorf("read an Application: %w", err)
	}
	automated, err := automatedOf(raw)
	if err != nil {
		return App{}, fmt.Errorf("read the sync policy of Application %s: %w", in.Name, err)
	}
	app := App{
		Ref: Ref{Namespace: in.Namespace, Name: in.Name}, UID: string(in.UID), Project: in.Spec.Project,
		Sources: sourcesOf(&in), Automated: automated,
		Dest:       Dest{Server: in.Spec.Destination.Server, Name: in.Spec.Destination.Name, Namespace: in.Spec.Destination.Namespace},
		Sync:       Sync{Status: string(in.Status.Sync.Status), Revision: in.Status.Sync.Revision, Revisions: in.Status.Sync.Revisions},
		Health:     string(in.Status.Health.Status),
		Conditions: conditionsOf(in.Status.Conditions),
		Operation:  operationOf(in.Status.OperationState, &in.Spec),
		Requested:  in.Operation != nil,
		Resources:  resourcesOf(in.Status.Resources),
		Skipped:    in.Annotations[skipReconcile] == "true",
		Owner:      ownerOf(&in), Raw: raw,
	}
	app.ReconciledAt = timeOf(in.Status.ReconciledAt)
	app.URL = c.page(app.Ref)
	if app.Project == "" {
		app.Project = "default"
	}
	c.remember(app.Ref, app.Project)
	return app, nil
}

const skipReconcile = "argocd.argoproj.io/skip-reconcile"

// automatedOf reads the policy from the raw JSON: the field enabled came with
// Argo CD 3.1, and the 2.14 type would drop it and so read "switched off" as
// "on".
func automatedOf(raw json.RawMessage) (Automated, error) {
	var in struct {
		Spec struct {
			SyncPolicy struct {
				Automated json.RawMessage `json:"automated"`
			} `json:"syncPolicy"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Automated{}, err
	}
	return ReadAutomated(in.Spec.SyncPolicy.Automated)
}

// ReadAutomated reads spec.syncPolicy.automated.
func ReadAutomated(raw json.RawMessage) (Automated, error) {
	var a struct {
		Enabled  *bool `json:"enabled"`
		Prune    bool  `json:"prune"`
		SelfHeal bool  `json:"selfHeal"`
	}
	if !isSet(raw) {
		return Automated{}, nil
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return Automated{}, fmt.Errorf("read an automated policy: %w", err)
	}
	return Automated{Present: true, Enabled: a.Enabled == nil || *a.Enabled, Prune: a.Prune, SelfHeal: a.SelfHeal}, nil
}

func sourcesOf(in *v1alpha1.Application) []Source {
	var list []Source
	if in.Spec.SourceHydrator != nil {
		s := in.Spec.GetSource()
		return []Source{{RepoURL: s.RepoURL, Path: s.Path, TargetRevision: s.TargetRevision, Kind: "hydrated"}}
	}
	for i, s := range in.Spec.GetSources() {
		out := Source{RepoURL: s.RepoURL, Path: s.Path, TargetRevision: s.TargetRevision, Chart: s.Chart, Ref: s.Ref}
		if s.Directory != nil {
			out.Directory = Directory{Recurse: s.Directory.Recurse, Include: s.Directory.Include, Exclude: s.Directory.Exclude}
		}
		found := in.Status.SourceType
		if i < len(in.Status.SourceTypes) {
			found = in.Status.SourceTypes[i]
		}
		out.Kind = kindOf(s, found)
		list = append(list, out)
	}
	return list
}

// kindOf prefers what the spec says over what Argo CD found, which may be of
// an earlier spec.
func kindOf(s v1alpha1.ApplicationSource, found v1alpha1.ApplicationSourceType) string {
	switch {
	case s.Plugin != nil:
		return "plugin"
	case s.Chart != "" || s.Helm != nil:
		return "helm"
	case s.Kustomize != nil:
		return "kustomize"
	case s.Directory != nil && !s.Directory.Jsonnet.IsZero():
		return "jsonnet"
	}
	return strings.ToLower(string(found))
}

func conditionsOf(in []v1alpha1.ApplicationCondition) []Condition {
	var list []Condition
	for _, c := range in {
		list = append(list, Condition{Type: c.Type, Message: cut(c.Message), At: timeOf(c.LastTransitionTime)})
	}
	return list
}

func operationOf(in *v1alpha1.OperationState, spec *v1alpha1.ApplicationSpec) *Operation {
	if in == nil {
		return nil
	}
	op := &Operation{
		Phase: string(in.Phase), Message: cut(in.Message),
		By: in.Operation.InitiatedBy.Username, Automated: in.Operation.InitiatedBy.Automated,
		StartedAt: in.StartedAt.UTC(), FinishedAt: timeOf(in.FinishedAt),
		Retrying: in.Phase == "Running" && in.FinishedAt != nil,
	}
	if sync := in.Operation.Sync; sync != nil {
		op.Revision, op.DryRun, op.Partial = sync.Revision, sync.DryRun, len(sync.Resources) > 0
	}
	for _, info := range in.Operation.Info {
		if op.Infos == nil {
			op.Infos = map[string]string{}
		}
		op.Infos[info.Name] = info.Value
	}
	if in.SyncResult == nil {
		return op
	}
	if in.SyncResult.Revision != "" {
		op.Revision = in.SyncResult.Revision
	}
	// The controller's own rule for what it has tried already.
	// https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go, alreadyAttemptedSync
	if spec.HasMultipleSources() {
		op.Resourced = !reflect.DeepEqual(spec.Sources, in.SyncResult.Sources)
	} else {
		op.Resourced = !reflect.DeepEqual(spec.GetSource(), in.SyncResult.Source)
	}
	for _, r := range in.SyncResult.Resources {
		if r == nil {
			continue
		}
		op.Result = append(op.Result, ResourceResult{
			ResourceRef: ResourceRef{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name},
			Status:      string(r.Status), Message: cut(r.Message),
		})
	}
	return op
}

func resourcesOf(in []v1alpha1.ResourceStatus) []ResourceStatus {
	var list []ResourceStatus
	for _, r := range in {
		out := ResourceStatus{
			ResourceRef: ResourceRef{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name},
			Version:     r.Version, Status: string(r.Status), Prune: r.RequiresPruning, Hook: r.Hook,
		}
		if r.Health != nil {
			out.Health = string(r.Health.Status)
		}
		list = append(list, out)
	}
	return list
}

// ownerOf finds what made an Application: the ApplicationSet that owns it,
// the Application that tracks it, the Flux object that applied it.
func ownerOf(in *v1alpha1.Application) string {
	for _, o := range in.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return o.Kind + " " + o.Name
		}
	}
	// The tracking id is app:group/kind:namespace/name; a copy of another
	// object's is not ours.
	id := strings.SplitN(in.Annotations["argocd.argoproj.io/tracking-id"], ":", 3)
	if len(id) == 3 && id[1] == "argoproj.io/Application" && strings.HasSuffix(id[2], "/"+in.Name) && id[0] != in.Name {
		return "Application " + id[0]
	}
	if name := in.Labels["kustomize.toolkit.fluxcd.io/name"]; name != "" {
		return "Kustomization " + in.Labels["kustomize.toolkit.fluxcd.io/namespace"] + "/" + name
	}
	if name := in.Labels["app.kubernetes.io/instance"]; name != "" && name != in.Name {
		return "Application " + name
	}
	return ""
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
