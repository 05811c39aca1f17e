package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"reconcilebot/state"
)

// Files outlive the messages that they were shared in, and whoever is in the
// channel, or comes into it, can read them. So a reconciliation has one at
// most, the newest, and that goes a day after its end: by then the record and
// the pull request say what there is to say.
const fileLife = 24 * time.Hour

// fileKey names a file in a card's thread.
func fileKey(run state.ReconciliationID, mint string) state.MessageKey {
	return filesOf(run) + state.MessageKey(mint)
}

const filePrefix = "file/"

func filesOf(run state.ReconciliationID) state.MessageKey {
	return state.MessageKey(filePrefix + string(run) + "/")
}

// replaceFiles deletes the files of a reconciliation but the newest. One that
// can't be deleted now goes with the next, or at the end.
func (a *answers) replaceFiles(ctx context.Context, run state.ReconciliationID, newest state.MessageKey) {
	list, err := a.post.db.Messages(string(filesOf(run)))
	if err != nil {
		a.log.Warn("the files of a reconciliation were not read", "run", run, "err", err)
		return
	}
	for key, m := range list {
		if key != newest {
			a.deleteFile(ctx, key, m)
		}
	}
}

// discard deletes the files of what has ended.
func (a *answers) discard(ctx context.Context) {
	list, err := a.post.db.Messages(filePrefix)
	if err != nil {
		a.log.Error("the files in Slack were not read", "err", err)
		return
	}
	for key, m := range list {
		if ctx.Err() != nil {
			return
		}
		run, _, _ := strings.Cut(strings.TrimPrefix(string(key), filePrefix), "/")
		r, err := a.post.db.Reconciliation(state.ReconciliationID(run))
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			a.log.Error("the reconciliation of a file was not read", "run", run, "err", err)
			continue
		}
		if err != nil || r.IsClosed() && a.now().Sub(r.Closed) > fileLife {
			a.deleteFile(ctx, key, m)
		}
	}
}

// deleteFile deletes a file and forgets it.
// https://docs.slack.dev/reference/methods/files.delete
func (a *answers) deleteFile(ctx context.Context, key state.MessageKey, m state.Message) {
	if m.File != "" {
		err := a.post.call(ctx, "files.delete", func(api *slack.Client) error { return api.DeleteFileContext(ctx, m.File) })
		if gone := err != nil && slices.Contains([]string{"file_not_found", "file_deleted"}, troubleOf(err).Code); err != nil && !gone {
			a.log.Warn("a file was not deleted yet", "key", key, "file", m.File, "err", troubleOf(err).Err)
			return
		}
	}
	if err := a.post.db.ForgetMessage(key); err != nil {
		a.log.Error("a file that is deleted was not forgotten", "key", key, "err", err)
	}
}
