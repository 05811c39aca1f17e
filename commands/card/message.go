package card

import "github.com/slack-go/slack"

// Message is what is posted.
type Message struct {
	// Text says the same as the blocks, for notifications, screen readers and
	// exports. It is escaped as mrkdwn.
	Text   string
	Blocks []slack.Block
	// Aloud shows an answer in a thread to the whole channel.
	Aloud bool
}

// What buttons and modals are called in Slack. Old messages keep them, so
// none is ever renamed.
const (
	ActionAdopt   = "adopt"
	ActionRevert  = "revert"
	ActionLeave   = "leave"
	ActionApprove = "approve"
	ActionDecline = "decline"
	ActionRetry   = "retry"
	ActionAgain   = "again"
	ActionPause   = "pause"
	ActionExtend  = "extend"
	ActionResume  = "resume"
	ActionLook    = "look"
	ActionAccept  = "accept"
	// ActionFields opens the modal in which each change has a choice of its own.
	ActionFields = "fields"
	// ActionRollback undoes what was merged.
	ActionRollback = "rollback"

	// ActionOverride goes on without the approval, ActionReview closes the
	// review that follows.
	ActionOverride = "override"
	ActionReview   = "review"

	// ActionDiff shows the full diff, or its next page, ActionDiffBack the page
	// before; ActionDiffFile puts all of it into the thread.
	ActionDiff     = "diff"
	ActionDiffBack = "diff-back"
	ActionDiffFile = "diff-file"
	CallbackDiff   = "diff"

	// CallbackReason is the modal that asks why; BlockReason its input.
	CallbackReason = "reason"
	BlockReason    = "reason"
	// BlockLength is the input of how long a pause is to last.
	BlockLength = "length"
	// BlockField and the number of a change is its choice.
	BlockField = "field/"
)
