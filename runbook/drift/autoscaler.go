package drift

import (
	"context"
	"errors"

	"reconcilebot/runbook/cluster"
	"reconcilebot/runbook/manifest"
)

// scaler is a HorizontalPodAutoscaler and what it scales.
type scaler struct{ name, group, kind, target string }

// scaledBy names the autoscaler that owns a field; "" if none does. Only
// replicas can be owned by one.
func (s *survey) scaledBy(ctx context.Context, o manifest.Object, path manifest.Path) (string, error) {
	if len(path) != 2 || path[0].Key != "spec" || path[1].Key != "replicas" {
		return "", nil
	}
	list, err := s.autoscalers(ctx, o.Namespace)
	if err != nil {
		return "", err
	}
	for _, a := range list {
		if a.target == o.Name && a.kind == o.Kind && a.group == o.Group() {
			return a.name, nil
		}
	}
	return "", nil
}

// autoscalers reads a namespace's. Without them replicas can't be judged, so
// that a missing right is an error here.
func (s *survey) autoscalers(ctx context.Context, namespace string) ([]scaler, error) {
	if list, ok := s.scalers[namespace]; ok {
		return list, nil
	}
	items, err := s.Live.List(ctx, "autoscaling/v2", "HorizontalPodAutoscaler", namespace)
	if _, none := errors.AsType[*cluster.NotFound](err); err != nil && !none {
		return nil, err
	}
	list := []scaler{}
	for _, item := range items {
		ref := child(child(item.Object, "spec"), "scaleTargetRef")
		group := manifest.Object{APIVersion: text(ref, "apiVersion")}.Group()
		list = append(list, scaler{item.GetName(), group, text(ref, "kind"), text(ref, "name")})
	}
	if s.scalers == nil {
		s.scalers = map[string][]scaler{}
	}
	s.scalers[namespace] = list
	return list, nil
}
