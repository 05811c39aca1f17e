package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"reconcilebot/commands"
	"reconcilebot/state"
)

// maxFile is how large a file may be: Slack shows snippets up to one megabyte.
// https://docs.slack.dev/reference/methods/files.getUploadURLExternal
const maxFile = 1 << 20

// turnPage replaces what a modal shows by what a button in it asked for, if it
// still shows what the button was on: the hash says so.
func (a *answers) turnPage(ctx context.Context, m slack.ModalViewRequest, on *view) error {
	api, err := a.slack.use()
	if err != nil {
		return err
	}
	_, err = api.UpdateViewContext(ctx, m, "", on.Hash, on.ID)
	if err == nil {
		return nil
	}
	switch troubleOf(err).Code {
	case "not_found", "hash_conflict":
		return nil // closed in the meantime, or turned already
	}
	return err
}

// upload puts a file into the thread of a card. One that may have arrived
// without our knowing is not sent again: twice is worse than a second click.
func (a *answers) upload(ctx context.Context, q *question, f commands.ThreadFile) error {
	if err := a.post.ours(ctx, f.Room); err != nil {
		return err
	}
	key := fileKey(f.Run, q.d.Mint)
	switch was, err := a.post.db.Message(key); {
	case err == nil && !was.Tried.IsZero():
		return nil
	case err != nil && !errors.Is(err, state.ErrNotFound):
		return err
	}
	card, err := a.post.db.Message(cardKey(f.Run))
	if err != nil {
		return fmt.Errorf("find the thread for a file: %w", err)
	}
	text := string(f.Content)
	if a.post.redact != nil {
		text = a.post.redact(text)
	}
	if len(text) > maxFile {
		text = cut(text, maxFile-200) + fmt.Sprintf("\n… showing %d of %d bytes; the pull request has all of it\n", maxFile-200, len(f.Content))
	}
	if err := a.post.db.SaveMessage(key, state.Message{Room: f.Room, Tried: a.now()}); err != nil {
		return err
	}
	var sent *slack.FileSummary
	err = a.post.call(ctx, "files.completeUploadExternal", func(api *slack.Client) (err error) {
		sent, err = api.UploadFileContext(ctx, slack.UploadFileParameters{
			Content: text, FileSize: len(text), Filename: f.Name, Title: f.Title, SnippetType: "diff",
			Channel: string(f.Room), ThreadTimestamp: card.TS,
		})
		return err
	})
	switch {
	case err == nil && sent != nil:
		err = a.post.db.SaveMessage(key, state.Message{Room: f.Room, Tried: a.now(), File: sent.ID})
		a.replaceFiles(ctx, f.Run, key)
	case err != nil && !troubleOf(err).Unsure:
		err = errors.Join(err, a.post.db.SaveMessage(key, state.Message{Room: f.Room}))
	}
	return err
}
