package scenario

// slackScenarios are what can go wrong between people and the bot. Those that
// spoil what all channels share play alone.
func slackScenarios() []Scenario {
	return []Scenario{
		{Name: "slack-overflow", Does: "more commands at once than the bot can hold are answered, each of them", Alone: true, play: slackOverflow},
		{Name: "slack-rotation", Does: "Slack renews the connections while somebody decides", Alone: true, play: slackRotation},
		{Name: "slack-stale-click", Does: "a click on a card as it was before", play: slackStaleClick},
		{Name: "slack-two-people", Does: "two people decide, then two approve, within the same 50 ms", play: slackTwoPeople},
		{Name: "slack-external-member", Does: "somebody of another organisation clicks, and then the channel is shared", play: slackExternalMember},
		{Name: "slack-late-modal", Does: "a modal is sent after what it is about has changed", play: slackLateModal},
		{Name: "slack-parent-deleted", Does: "somebody deletes the card while its pull request is open", play: slackParentDeleted},
		{Name: "slack-archived-channel", Does: "the channel is archived while its pull request is open", play: slackArchivedChannel},
		{Name: "slack-revoked-token", Does: "the bot's token is revoked and given back", Alone: true, play: slackRevokedToken},
		{Name: "slack-delivered-again", Does: "an event comes again after a restart, the connections break again and again", Alone: true, play: slackDeliveredAgain},
		{Name: "slack-update-refused", Does: "Slack refuses to update the card, twice", play: slackUpdateRefused},
		{Name: "slack-two-processes", Does: "a second bot runs beside the first, and one is replaced by the next", Alone: true, play: slackTwoProcesses},
	}
}
