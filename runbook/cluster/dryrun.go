package cluster

import (
	"context"
	"fmt"

	authv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Invalid says that the API server would not take a change: by its own
// validation, or by an admission policy.
type Invalid struct{ What, Message string }

func (e *Invalid) Error() string { return e.What + ": " + e.Message }

// DryRun has the API server check a JSON merge patch as it would check the
// real one, up to but without storing it. That takes the right to patch, which
// RBAC can't narrow down to dry runs: an admission policy has to
// (deploy/policy). Whether the right is there is asked first, so that a bot
// without it leaves no refused writes in the audit log.
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
func (c *Cluster) DryRun(ctx context.Context, ref ObjectRef, patch []byte) error {
	what := "try a change of " + ref.String()
	in, err := c.resource(what, ref.APIVersion, ref.Kind, ref.Namespace)
	if err != nil {
		return err
	}
	allowed, err := c.mayPatch(ctx, what, ref)
	if err != nil {
		return err
	}
	if !allowed {
		return &Denied{What: what, Message: "there is no right to patch it"}
	}
	_, err = in.Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{
		DryRun: []string{metav1.DryRunAll}, FieldManager: "reconcilebot-dry-run", FieldValidation: metav1.FieldValidationStrict,
	})
	switch {
	case err == nil:
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		// The right to patch is there, so a 403 is an admission policy's.
		return &Invalid{What: what, Message: err.Error()}
	}
	return classify(what, err)
}

// mayPatch asks for the right to patch one object.
func (c *Cluster) mayPatch(ctx context.Context, what string, ref ObjectRef) (bool, error) {
	mapping, err := c.mapping(what, ref.APIVersion, ref.Kind)
	if err != nil {
		return false, err
	}
	answer, err := c.access.Create(ctx, &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authv1.ResourceAttributes{
			Verb: "patch", Group: mapping.Resource.Group, Resource: mapping.Resource.Resource, Namespace: ref.Namespace, Name: ref.Name,
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, classify(fmt.Sprintf("ask for the right to %s", what), err)
	}
	return answer.Status.Allowed, nil
}
