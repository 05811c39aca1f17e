package ticket

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secret = "whsec_cmVjb25jaWxlYm90LXRlc3Qtc2VjcmV0LTAxMjM0NTY3"

func TestSignatureIsWhatTheReferenceLibraryVerifies(t *testing.T) {
	body := []byte(`{"type":"reconcilebot.record.closed"}`)
	at := strconv.FormatInt(time.Now().Unix(), 10)
	signature, err := sign(secret, "rec_1", at, body)
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set("Webhook-Id", "rec_1")
	h.Set("Webhook-Timestamp", at)
	h.Set("Webhook-Signature", signature)
	if err := receiver.Verify(body, h); err != nil {
		t.Errorf("the reference library says: %v", err)
	}
	if err := receiver.Verify(append(body, ' '), h); err == nil {
		t.Error("a changed body is accepted")
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64!", strings.TrimPrefix(secret, "whsec_"), "hunter2"} {
		if _, err := ParseSecret(text); err == nil {
			t.Errorf("%q was taken", text)
		} else if text != "" && strings.Contains(err.Error(), text) && text != "whsec_" {
			t.Errorf("the error shows %q", text)
		}
	}
}
