package card

import (
	"fmt"

	"github.com/slack-go/slack"

	"reconcilebot/runbook/book"
)

// MaxFields is how many changes can be decided one by one: more are not gone
// through with care.
const MaxFields = 20

// AskFields is the modal in which each change has a choice of its own. What
// can't be proven is not offered for adoption.
func AskFields(f Facts, seen book.Seen) *slack.ModalViewRequest {
	m := AskReason(Question{
		Title: "Decide per field", Submit: "Make the plan",
		About:   "What becomes of each change in " + f.target().Short() + ". Somebody else approves the plan before anything happens.",
		Label:   "Why?",
		Hint:    "Goes to those who approve, into the pull request and into the record.",
		Example: "The replicas are needed; the debug flag is not",
		Carried: Carry(f.Run.ID, seen.Drift.Digest, ActionFields),
	})
	reason := m.Blocks.BlockSet[len(m.Blocks.BlockSet)-1]
	blocks := m.Blocks.BlockSet[:len(m.Blocks.BlockSet)-1]
	for i, c := range seen.Drift.Changes {
		if i == MaxFields {
			break
		}
		adopt, leave := choice("Adopt into Git", book.DoAdopt), choice("Leave as it is", book.DoLeave)
		options := []*slack.OptionBlockObject{adopt, choice("Revert in the cluster", book.DoRevert), leave}
		if i < len(seen.Places) && seen.Places[i].Why != "" {
			options = options[1:]
		}
		pick := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, "choice", options...)
		pick.InitialOption = leave
		label := fmt.Sprintf("%d. %s of %s %s", i+1, cut(c.Path.String(), 80), c.Object.Kind, c.Object.Name)
		if len(c.Path) == 0 {
			label = fmt.Sprintf("%d. The whole %s %s", i+1, c.Object.Kind, c.Object.Name)
		}
		blocks = append(blocks, slack.NewInputBlock(fmt.Sprint(BlockField, i), plainText(cut(visible(label), 150)), plainText(cut(visible(plainly(c)), 150)), pick))
	}
	m.Blocks.BlockSet = append(blocks, reason)
	return m
}

func choice(text string, do book.Do) *slack.OptionBlockObject {
	return slack.NewOptionBlockObject(string(do), plainText(text), nil)
}
