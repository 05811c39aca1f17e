package slacksim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// FuzzWebAPI sends any method any body in any form. Whatever comes, there is
// an answer in JSON and the workspace goes on.
func FuzzWebAPI(f *testing.F) {
	f.Add("chat.postMessage", "application/json", `{"channel":"C0INC","text":"x","blocks":[{"type":"table","rows":[[]]}]}`)
	f.Add("chat.update", "application/x-www-form-urlencoded", "channel=C0INC&ts=1.2&attachments=[{\"blocks\":[null]}]")
	f.Add("views.open", "application/json", `{"trigger_id":"1.2.3","view":{"type":"modal","blocks":[{"type":"input","element":5}]}}`)
	f.Add("files.completeUploadExternal", "multipart/form-data; boundary=x", "--x\r\n")
	f.Add("chat.scheduleMessage", "application/json", `{"channel":"C0INC","text":"x","post_at":99999999999999}`)
	f.Add("blocks.validate", "application/json", `{"view":{"type":"modal"}}`)
	f.Fuzz(func(t *testing.T, method, kind, body string) {
		sim, err := New(wideSeed(), Options{Limits: LimitsOff})
		if err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		if strings.ContainsAny(method, " \r\n%?#") {
			return
		}
		req := httptest.NewRequest(http.MethodPost, "/api/"+strings.TrimLeft(method, "/"), strings.NewReader(body))
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer "+sim.BotToken())
		got := httptest.NewRecorder()
		sim.Handler().ServeHTTP(got, req)
		if got.Code == http.StatusOK && decode(got.Body.Bytes()) == nil {
			t.Errorf("%s answered %q", method, got.Body)
		}
		raw, err := sim.Snapshot()
		if err == nil {
			err = sim.Restore(raw)
		}
		if err != nil {
			t.Errorf("the workspace can't be saved and restored: %v", err)
		}
	})
}

// FuzzSocket lets an app say anything on its socket.
func FuzzSocket(f *testing.F) {
	for _, raw := range []string{`{"envelope_id":"x"}`, `{"envelope_id":null}`, `{"envelope_id":5}`, `[]`, ``, `{"envelope_id":"x","payload":{"blocks":[{}]}}`} {
		f.Add([]byte(raw), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, text bool) {
		sim, err := New(testSeed(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		kind := websocket.BinaryMessage
		if text {
			kind = websocket.TextMessage
		}
		c := &socket{frames: &watched{}}
		sim.heard(c, kind, raw)
		alice, room := sim.user("alice"), sim.room("C0INC")
		_ = sim.commandAnswer(&Invocation{Answer: raw}, alice, room, "/reconcile") // what the person sees is not of interest
		_, _ = sim.respond(&View{User: alice.ID}, raw)
		_, _ = offered(raw)
	})
}
