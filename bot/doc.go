// Package bot speaks Slack's wire: it receives what people do, remembers it,
// acknowledges it, hands it over, and answers.
//
// It must never acknowledge a command or click that is not on disk, never do
// the same act twice, never post the same message twice, and never let a slow
// or broken Slack keep a reconciliation from going on.
//
// Why stored before acknowledged: Slack documents no second delivery of a
// command or a click. What is acknowledged and then lost to a crash is lost
// for good, while the person believes that it is being done.
//
// Why an own connection loop on slack-go's client and not its socketmode
// loop: that one hides the reasons for which Slack disconnects, reopens
// without any pause, shares acknowledgements between connections, never
// acknowledges what it can't decode, and closes the old connection before it
// opens the new one.
package bot
