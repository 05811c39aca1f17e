package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// NotFound says that there is no such object, or no such kind.
type NotFound struct{ What string }

func (e *NotFound) Error() string { return e.What + ": the cluster has none" }

// Denied says that a right is missing, or that our credentials are refused.
type Denied struct {
	What    string
	Message string
}

func (e *Denied) Error() string { return e.What + ": denied: " + e.Message }

// Unavailable says that the API server can't be reached or can't answer now.
type Unavailable struct {
	What string
	Err  error
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("%s: the cluster's API server can't be reached: %v", e.What, e.Err)
}

// Unwrap gives the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// classify turns the client's errors into ours.
func classify(what string, err error) error {
	_, isURL := errors.AsType[*url.Error](err)
	_, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, err)
	case apierrors.IsNotFound(err), apierrors.IsGone(err), meta.IsNoMatchError(err):
		return &NotFound{what}
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return &Denied{What: what, Message: err.Error()}
	case apierrors.IsServiceUnavailable(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err),
		apierrors.IsTooManyRequests(err), apierrors.IsInternalError(err), isURL, isNet,
		errors.Is(err, context.DeadlineExceeded):
		return &Unavailable{What: what, Err: err}
	}
	return fmt.Errorf("%s: %w", what, err)
}
