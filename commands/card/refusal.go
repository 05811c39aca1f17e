package card

import "github.com/slack-go/slack"

// Refusal answers the one who asked, alone: what is not done, and what they
// can do or who could.
func Refusal(text string) Message { return Answer(text) }

// Answer is a few sentences to the one who asked.
func Answer(text string) Message {
	s := &sheet{}
	s.lines(paragraphs(text, 2000))
	return s.plain()
}

// plain is a message whose text is all there is to say.
func (s *sheet) plain() Message { return Message{Text: fallback("", s.blocks), Blocks: s.blocks} }

// AskReason is the modal that asks why. Carried says what it is about, in
// ids alone.
func AskReason(q Question) *slack.ModalViewRequest {
	input := slack.NewPlainTextInputBlockElement(plainText(cut(q.Example, 150)), "text")
	input.Multiline, input.MinLength, input.MaxLength = true, 1, MaxReason
	return &slack.ModalViewRequest{
		Type:            slack.VTModal,
		CallbackID:      CallbackReason,
		PrivateMetadata: q.Carried,
		Title:           plainText(cut(q.Title, 24)),
		Submit:          plainText(cut(q.Submit, 24)),
		Close:           plainText("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(mrkdwn(say(q.About, longPhrase)), nil, nil),
			slack.NewInputBlock(BlockReason, plainText(cut(q.Label, 150)), plainText(cut(q.Hint, 150)), input),
		}},
	}
}

// AskPause is the modal that asks how long, and why, a target is to be paused.
func AskPause(target, carried string) *slack.ModalViewRequest {
	m := AskReason(Question{
		Title: "Pause", Submit: "Pause",
		About:   "Keeps Argo CD from reconciling " + target + " for a while. Whether that will hold is said first; at the end, exactly what was there is put back.",
		Label:   "Why is it paused?",
		Hint:    "For those who find it paused, and for the record.",
		Example: "The replicas have to stay while the queue drains",
		Carried: carried,
	})
	length := slack.NewPlainTextInputBlockElement(plainText("45m"), "text")
	length.InitialValue, length.MinLength, length.MaxLength = "45m", 1, 10
	m.Blocks.BlockSet = append(m.Blocks.BlockSet, slack.NewInputBlock(BlockLength, plainText("For how long?"), plainText("Like 45m or 1h30m. It can be extended."), length))
	return m
}

// MaxReason is how long a reason may be, in characters: it has to fit into a
// commit message, a pull request and a card.
const MaxReason = 1000

// Question is what a modal asks.
type Question struct {
	Title, Submit string
	// About says what the answer is for.
	About                string
	Label, Hint, Example string
	Carried              string
}
