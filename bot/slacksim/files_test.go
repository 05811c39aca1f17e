package slacksim

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

func TestAFileIsUploadedIntoTheThread(t *testing.T) {
	w := start(t, Options{})
	ts := w.post(t, "C0INC", "card")
	diff := "-  replicas: 3\n+  replicas: 6\n"
	file, err := w.client.UploadFile(slack.UploadFileParameters{
		Filename: "plan.diff", FileSize: len(diff), Content: diff, Title: "Plan", SnippetType: "diff",
		Channel: "C0INC", ThreadTimestamp: ts, InitialComment: "the full diff",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.must(t, "the share", func() bool { return len(w.Thread("C0INC", ts)) == 2 })
	info, _ := w.call(t, "files.info", map[string]string{"file": file.ID})["file"].(obj)
	shares, _ := info["shares"].(obj)
	public, _ := shares["public"].(obj)
	if len(list(public["C0INC"])) != 1 {
		t.Errorf("shares %v", info["shares"])
	}

	url := str(info["url_private"])
	for name, c := range map[string]struct{ token, want string }{
		"with the token":    {"Bearer " + w.BotToken(), "replicas: 6"},
		"without the token": {"", "Sign in"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", c.token)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, answer); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	w.ExpectNoFindings(t)
}

func TestAnUploadOfAnotherLengthIsRefused(t *testing.T) {
	w := start(t, Options{})
	o := w.call(t, "files.getUploadURLExternal", map[string]string{"filename": "a.txt", "length": "5"})
	answer, err := http.Post(str(o["upload_url"]), "text/plain", strings.NewReader("four"))
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, answer); answer.StatusCode != 400 || !strings.Contains(got, "5 bytes were announced and 4 came") {
		t.Errorf("answered %d %s", answer.StatusCode, got)
	}
	done := w.call(t, "files.completeUploadExternal", map[string]string{"files": `[{"id":"` + str(o["file_id"]) + `"}]`})
	if done["error"] != "file_not_found" {
		t.Errorf("completing it answered %v", done)
	}
}
