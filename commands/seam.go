package commands

import (
	"context"

	"github.com/slack-go/slack"

	"reconcilebot/commands/access"
	"reconcilebot/commands/card"
	"reconcilebot/state"
)

// Kind is by which way a request came.
type Kind string

// The ways.
const (
	// Slash is the slash command; Text holds its words.
	Slash Kind = "slash"
	// Mention is the same words after the bot's name in a message or a
	// thread; Text holds them without the name.
	Mention Kind = "mention"
	// Shortcut is the message shortcut: Message and Thread say on which
	// message it was used, Text holds that message's words, Action the
	// shortcut's callback id.
	Shortcut Kind = "shortcut"
	// Click is a button: Action, Block and Value hold what it carries.
	Click Kind = "click"
	// Submit is a modal that was sent: View holds it.
	Submit Kind = "submit"
	// Closed is a modal that was closed without sending it.
	Closed Kind = "closed"
)

// View is a modal as it came back.
type View struct {
	ID, Hash string
	// Callback and Metadata are what the modal was opened with.
	Callback, Metadata string
	// Values holds what was typed or chosen, by block id.
	Values map[string]string
}

// Request is one act of a person, without Slack's wire around it.
type Request struct {
	// Delivery has the act's id, and the mint from which whatever it creates
	// takes its id.
	Delivery state.Delivery
	Kind     Kind
	// User and Team are the person's own: Team is the workspace or
	// organisation that the person belongs to, as the payload has it, not the
	// one where the app is installed. Empty means that the payload had none.
	User, Team string
	// Room is the channel; empty for a Submit that comes without one: it is
	// then that of the reconciliation which the modal is about.
	Room state.Room
	// Thread and Message are timestamps; empty where there are none.
	Thread, Message string
	Text            string
	Action          string
	Block           string
	Value           string
	View            View
}

// Reply is what to answer; any part may be nil.
type Reply struct {
	// Ephemeral is for the one who asked, alone.
	Ephemeral *card.Message
	// Modal is opened with the trigger of the click.
	Modal *slack.ModalViewRequest
	// Public is posted where the request came from: in the thread if it came
	// from one, in the channel otherwise.
	Public *card.Message
	// File is put into the thread of a reconciliation's card.
	File *ThreadFile
}

// ThreadFile is a file for the thread of a card.
type ThreadFile struct {
	card.File
	Run  state.ReconciliationID
	Room state.Room
}

// Member is a person as the workspace knows them now, RoomInfo what is known
// of a channel.
type (
	Member   = access.Member
	RoomInfo = access.Room
)

// directory looks people and channels up. An error denies.
type directory interface {
	Member(ctx context.Context, user, team string) (Member, error)
	Room(ctx context.Context, id string) (RoomInfo, error)
}
