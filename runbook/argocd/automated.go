package argocd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Changed says that an Application's spec is not what the caller read any
// more, so nothing was written. Reading again and deciding anew is right.
type Changed struct{ What string }

func (e *Changed) Error() string { return e.What + ": its spec was changed in the meantime" }

// The ways by which the sync policy was written.
const (
	// ByPatch is a patch that Argo CD validated.
	ByPatch = "patch"
	// ByUpdate is an update that Argo CD did not validate: the way that is
	// left when the repository or the repo server is down.
	ByUpdate = "update without validation"
)

// patchTimeout bounds a patch: validating it renders the source, which waits
// for a repo server that does not answer.
const patchTimeout = 30 * time.Second

// SetAutomated makes spec.syncPolicy.automated of an Application what automated
// says, and leaves all else as it is; nil takes the field away. app is what
// the caller has read and decided on: if the spec is another one by now, the
// answer is *Changed and nothing is written. way says how it was written.
//
// A patch is always validated, against the repository and the cluster, and so
// fails exactly when these are in trouble
// (https://github.com/argoproj/argo-cd/issues/8762). The whole spec, as it was
// read, is written without validation then.
//
// Argo CD's server tries again on conflicts with what it computed first
// (updateApp in server/application/application.go), so that of two edits
// within the same moment the later wins: the caller has to look again.
func (c *Client) SetAutomated(ctx context.Context, app App, automated json.RawMessage) (way string, err error) {
	what := "set the sync policy of Application " + app.Ref.String()
	spec, err := specOf(app.Raw)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	patch, err := automatedPatch(spec, automated)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, patchTimeout, fmt.Errorf("no answer within %s", patchTimeout))
	defer cancel()
	err = c.do(bounded, call{what: what, method: "PATCH", path: appPath(app.Ref), body: patchBody{
		Name: app.Name, AppNamespace: c.at(app.Ref), Project: app.Project, Patch: string(patch), PatchType: "json",
	}}, nil)
	refused, isRefused := errors.AsType[*Refused](err)
	_, isDown := errors.AsType[*Unavailable](err)
	switch {
	case err == nil:
		return ByPatch, nil
	case isRefused && strings.Contains(refused.Message, "test failed"):
		return "", &Changed{what}
	case ctx.Err() != nil, !isRefused && !isDown:
		return "", err
	}
	return ByUpdate, c.updateSpec(ctx, what, app, spec, automated)
}

// updateSpec writes the spec without having it validated. It has no compare
// and set of its own, so the Application is read once more right before.
func (c *Client) updateSpec(ctx context.Context, what string, app App, spec map[string]json.RawMessage, automated json.RawMessage) error {
	now, err := c.get(ctx, what, app.Ref, "")
	if err != nil {
		return err
	}
	have, err := specOf(now.Raw)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !same(have, spec) {
		return &Changed{what}
	}
	policy, err := withAutomated(spec["syncPolicy"], automated)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	spec["syncPolicy"] = policy
	q := c.about(app.Ref)
	q.Set("validate", "false")
	return c.do(ctx, call{what: what, method: "PUT", path: appPath(app.Ref, "spec"), query: q, body: spec}, nil)
}

// patchBody is a patch as Argo CD takes it: the patch itself is a text.
type patchBody struct {
	Name         string `json:"name"`
	AppNamespace string `json:"appNamespace"`
	Project      string `json:"project,omitempty"`
	Patch        string `json:"patch"`
	PatchType    string `json:"patchType"`
}

type patchOp struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// automatedPatch first tests that the spec is the one that was read. A test of
// the field alone would fail where the field is absent: the library that the
// server uses has no test for absence (github.com/evanphx/json-patch v5.9.0).
func automatedPatch(spec map[string]json.RawMessage, automated json.RawMessage) ([]byte, error) {
	was, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	ops := []patchOp{{Op: "test", Path: "/spec", Value: was}}
	has := isSet(spec["syncPolicy"]) && isSet(automatedIn(spec["syncPolicy"]))
	switch {
	case automated == nil && has:
		ops = append(ops, patchOp{Op: "remove", Path: "/spec/syncPolicy/automated"})
	case automated != nil && !isSet(spec["syncPolicy"]):
		policy, err := withAutomated(nil, automated)
		if err != nil {
			return nil, err
		}
		ops = append(ops, patchOp{Op: "add", Path: "/spec/syncPolicy", Value: policy})
	case automated != nil:
		ops = append(ops, patchOp{Op: "add", Path: "/spec/syncPolicy/automated", Value: automated})
	}
	return json.Marshal(ops)
}

func specOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var in struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("read the spec: %w", err)
	}
	if in.Spec == nil {
		return nil, errors.New("the Application has no spec")
	}
	return in.Spec, nil
}

// SyncPolicy is spec.syncPolicy as the server gave it, with whatever this
// program does not know; nil when it is absent.
func (a App) SyncPolicy() json.RawMessage {
	spec, err := specOf(a.Raw)
	if err != nil || !isSet(spec["syncPolicy"]) {
		return nil
	}
	return spec["syncPolicy"]
}

// AutomatedRaw is spec.syncPolicy.automated likewise.
func (a App) AutomatedRaw() json.RawMessage { return automatedIn(a.SyncPolicy()) }

func automatedIn(policy json.RawMessage) json.RawMessage {
	var in struct {
		Automated json.RawMessage `json:"automated"`
	}
	if len(policy) == 0 || json.Unmarshal(policy, &in) != nil || !isSet(in.Automated) {
		return nil
	}
	return in.Automated
}

func isSet(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// withAutomated is a sync policy with another automated.
func withAutomated(policy, automated json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if isSet(policy) {
		if err := json.Unmarshal(policy, &fields); err != nil {
			return nil, err
		}
	}
	delete(fields, "automated")
	if automated != nil {
		fields["automated"] = automated
	}
	return json.Marshal(fields)
}

// Off is what stands in the place of an automated policy that is switched off:
// since Argo CD 3.1 the policy itself with enabled: false, which keeps its
// other settings and which a parent's sync leaves alone, because it is a field
// that Git does not have; before, nothing.
// https://github.com/argoproj/argo-cd/issues/10070
func Off(version string, automated json.RawMessage) (json.RawMessage, error) {
	if !HasEnabled(version) {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if isSet(automated) {
		if err := json.Unmarshal(automated, &fields); err != nil {
			return nil, fmt.Errorf("read the automated policy: %w", err)
		}
	}
	fields["enabled"] = json.RawMessage("false")
	return json.Marshal(fields)
}

// HasEnabled tells whether a version of Argo CD knows automated.enabled.
func HasEnabled(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 3 || major == 3 && minor >= 1
}

// SameJSON tells whether two texts hold the same value. Absent and null are
// the same.
func SameJSON(a, b json.RawMessage) bool {
	if !isSet(a) || !isSet(b) {
		return isSet(a) == isSet(b)
	}
	return same(a, b)
}

func same(a, b any) bool {
	decoded := func(v any) (out any, ok bool) {
		raw, err := json.Marshal(v)
		return out, err == nil && json.Unmarshal(raw, &out) == nil
	}
	x, okX := decoded(a)
	y, okY := decoded(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// NotRunning says that there is no operation to end, or that the controller
// has not taken it up yet: Argo CD does not tell these apart
// (https://github.com/argoproj/argo-cd/issues/17155).
type NotRunning struct{ What string }

func (e *NotRunning) Error() string { return e.What + ": no operation is in progress" }

// Terminate ends the operation that runs, between two of the objects that it
// applies. Argo CD before 3.3 gives up when the Application is written to at
// the same moment, which answers *Busy: asking again is right.
func (c *Client) Terminate(ctx context.Context, ref Ref) error {
	if err := c.known(ctx, ref); err != nil {
		return err
	}
	what := "end the operation of Application " + ref.String()
	err := c.do(ctx, call{what: what, method: "DELETE", path: appPath(ref, "operation"), query: c.about(ref)}, nil)
	if refused, ok := errors.AsType[*Refused](err); ok {
		switch {
		case strings.Contains(refused.Message, "No operation is in progress"):
			return &NotRunning{what}
		case strings.Contains(refused.Message, "Too many conflicts"):
			return &Busy{what}
		}
	}
	return err
}
