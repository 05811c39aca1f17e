package systems

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
)

// Kubeconfig is the path of the kubeconfig of an account, a person's or a
// program's.
func (kube *Kubernetes) Kubeconfig(name string) string {
	return filepath.Join(kube.dir, "kubeconfigs", name+".yaml")
}

// WriteKubeconfig writes an account's kubeconfig.
func (kube *Kubernetes) WriteKubeconfig(name, token string) error {
	path := kube.Kubeconfig(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: production-eu
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user: {token: %s}
contexts:
- name: production-eu
  context: {cluster: production-eu, user: %[3]s}
current-context: production-eu
`, kube.URL, base64.StdEncoding.EncodeToString(kube.CA), name, token)
	return os.WriteFile(path, []byte(text), 0o600)
}
