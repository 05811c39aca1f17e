package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Token makes an API token for one of Argo CD's accounts, as an administrator
// does: with a session, at the account's token endpoint.
func (a *ArgoCD) Token(ctx context.Context, account string) (string, error) {
	var session, token struct{ Token string }
	login := map[string]string{"username": "admin", "password": a.Password}
	if err := a.post(ctx, "/api/v1/session", "", login, &session); err != nil {
		return "", fmt.Errorf("log in to Argo CD as admin: %w", err)
	}
	if err := a.post(ctx, "/api/v1/account/"+account+"/token", session.Token, map[string]any{"expiresIn": 0}, &token); err != nil {
		return "", fmt.Errorf("make a token for Argo CD's account %s: %w", account, err)
	}
	return token.Token, nil
}

func (a *ArgoCD) post(ctx context.Context, path, token string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	// Argo CD refuses others, against cross-site requests.
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: %s", path, resp.Status, content)
	}
	return json.Unmarshal(content, answer)
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return true
		}
	}
	return false
}
