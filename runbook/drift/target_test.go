package drift

import "testing"

func TestResolve(t *testing.T) {
	all := []Target{
		{"production-eu", Application, "argocd", "payments-web"},
		{"production-eu", Application, "argocd", "payments-worker"},
		{"production-us", Application, "argocd", "payments-worker"},
		{"production-eu", Application, "team-a", "ledger"},
	}
	for name, test := range map[string]struct{ want, err string }{
		"payments-web":                      {want: "production-eu/argocd/payments-web"},
		"Payments-Web":                      {want: "production-eu/argocd/payments-web"},
		"led":                               {want: "production-eu/team-a/ledger"},
		"team-a/ledger":                     {want: "production-eu/team-a/ledger"},
		"production-us/payments-worker":     {want: "production-us/argocd/payments-worker"},
		"production-eu/argocd/payments-web": {want: "production-eu/argocd/payments-web"},
		"payments-worker":                   {err: `"payments-worker" fits more than one target: production-eu/argocd/payments-worker or production-us/argocd/payments-worker. Give more of the name.`},
		"payment-web":                       {err: `There is no target "payment-web". Did you mean payments-web?`},
		"xyzzy":                             {err: `There is no target "xyzzy".`},
		"":                                  {err: `There is no target "".`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(name, all)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				return
			}
			if err != nil || got.String() != test.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestTargetsAreReadAsTheyAreWritten(t *testing.T) {
	for _, target := range []Target{
		{"production-eu", Application, "argocd", "payments-web"},
		{"production-eu", Kustomization, "flux-system", "apps"},
		{"production-eu", HelmRelease, "shop", "db"},
	} {
		if got, err := ParseTarget(target.String()); err != nil || got != target {
			t.Errorf("%s came back as %+v, %v", target, got, err)
		}
	}
	for _, bad := range []string{"", "payments-web", "a/b", "a//c", "a/Pod/b/c", "a/b/c/d/e"} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
}
