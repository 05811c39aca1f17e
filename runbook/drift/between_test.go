package drift

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

func rendered(t *testing.T, texts ...string) (list []map[string]any) {
	t.Helper()
	for _, text := range texts {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

func TestBetween(t *testing.T) {
	const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: %d, template: {spec: {containers: [{name: web, image: "web:%d"}]}}}}`
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {k: %s}}`
	before := rendered(t, fmt.Sprintf(web, 3, 1), fmt.Sprintf(secret, "YQ=="), `{apiVersion: v1, kind: Service, metadata: {name: old}}`)
	after := rendered(t, fmt.Sprintf(web, 6, 2), fmt.Sprintf(secret, "Yg=="), `{apiVersion: v1, kind: Service, metadata: {name: new}}`)
	var got []string
	for _, c := range Between(before, after) {
		got = append(got, fmt.Sprintf("%s %s %s %v→%v %v", c.Object.Kind, c.Op, c.Path, c.Git != nil, c.Live != nil, c.Masked))
	}
	want := []string{
		"Deployment set spec.replicas true→true false",
		"Deployment set spec.template.spec.containers[name=web].image true→true false",
		"Secret set data.k true→true true",
		"Service remove  true→false false",
		"Service add  false→true false",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("between: %q\nwant %q", got, want)
	}
	if list := Between(before, before); len(list) != 0 {
		t.Errorf("between the same: %+v", list)
	}
}
