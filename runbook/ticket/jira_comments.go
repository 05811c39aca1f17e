package ticket

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
)

// jiraBoard is the comments of one issue.
type jiraBoard struct {
	*Jira
	key string
}

// jiraComment is a comment as Jira has it: its body is a document in version
// 3, a string in version 2.
type jiraComment struct {
	ID     string          `json:"id"`
	Author jiraUser        `json:"author"`
	Body   json.RawMessage `json:"body"`
}

func (b *jiraBoard) path(id string) string { return b.root + "/issue/" + b.key + "/comment" + id }

// find reads the comments, the newest first. Only one of the bot's own
// counts: anybody can copy a marker.
func (b *jiraBoard) find(ctx context.Context, r Record) (kept, bool, error) {
	me, err := b.myself(ctx)
	if err != nil {
		return kept{}, false, err
	}
	const perPage = 100
	for start := 0; start < maxPages*perPage; {
		var page struct {
			Total    int           `json:"total"`
			Comments []jiraComment `json:"comments"`
		}
		err := b.call(ctx, http.MethodGet, b.path(fmt.Sprintf("?orderBy=-created&startAt=%d&maxResults=%d", start, perPage)), nil, &page)
		if err != nil {
			return kept{}, false, err
		}
		for _, c := range page.Comments {
			if c.Author.is(me) && hasLine(b.text(c.Body), textMarker(r.ID)) {
				return b.kept(c), true, nil
			}
		}
		// A server may give fewer than it was asked for.
		if start += len(page.Comments); start >= page.Total || len(page.Comments) == 0 {
			break
		}
	}
	return kept{}, false, nil
}

// text is what a body says.
func (b *jiraBoard) text(body json.RawMessage) string {
	if b.c.Deployment == DataCenter {
		var s string
		_ = json.Unmarshal(body, &s) // what is no text has no marker
		return s
	}
	var doc node
	_ = json.Unmarshal(body, &doc) // what is no document has no marker
	return doc.text()
}

// jiraBody is what is sent. A service desk shows comments to the customer who
// opened the request, unless they carry this property; other projects do not
// mind it.
// https://developer.atlassian.com/cloud/jira/service-desk/rest/ (sd.public.comment)
type jiraBody struct {
	Body       any            `json:"body"`
	Properties []jiraProperty `json:"properties,omitempty"`
}

type jiraProperty struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func (b *jiraBoard) body(text string) any {
	if b.c.Deployment == DataCenter {
		return text
	}
	return json.RawMessage(text)
}

func (b *jiraBoard) write(ctx context.Context, body string, _ bool) (kept, error) {
	var c jiraComment
	internal := []jiraProperty{{Key: "sd.public.comment", Value: map[string]any{"internal": true}}}
	if err := b.call(ctx, http.MethodPost, b.path(""), jiraBody{Body: b.body(body), Properties: internal}, &c); err != nil {
		return kept{}, err
	}
	return b.kept(c), nil
}

var jiraCommentID = regexp.MustCompile(`^[0-9]{1,19}$`)

// edit is quiet while the record grows: Cloud then sends no mail to those who
// watch the issue. Data Center has no such choice.
func (b *jiraBoard) edit(ctx context.Context, id, body string, last bool) (kept, bool, error) {
	if !jiraCommentID.MatchString(id) {
		return kept{}, false, nil
	}
	path := b.path("/" + id)
	if b.c.Deployment == Cloud && !last {
		path += "?notifyUsers=false"
	}
	var c jiraComment
	err := b.call(ctx, http.MethodPut, path, jiraBody{Body: b.body(body)}, &c)
	if status(err) == http.StatusNotFound {
		return kept{}, false, nil
	}
	return b.kept(c), err == nil, err
}

func (b *jiraBoard) kept(c jiraComment) kept {
	body := string(c.Body)
	if b.c.Deployment == DataCenter {
		body = b.text(c.Body)
	}
	return kept{id: c.ID, url: b.page(b.key) + "?focusedCommentId=" + c.ID, body: body}
}
