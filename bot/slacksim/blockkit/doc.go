// Package blockkit tells what Slack would refuse about blocks and views, in
// Slack's own words and with a JSON pointer to the place.
//
// It must never be kinder than Slack: a field that Slack does not know, an id
// twice, a text one character too long are faults here as they are there.
//
// Why a table and not code: the table is compared, field by field and number
// by number, with the comments in Slack's own @slack/types package. A limit
// that was misread, or that Slack changes, is seen by a test and not by the
// people whose card does not come.
//
// Sources: https://docs.slack.dev/reference/block-kit and the doc comments of
// @slack/types. Where the two differ, a test says which holds here and why.
package blockkit
