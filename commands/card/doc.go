// Package card draws requests and records as Slack's blocks.
//
// It must never look anything up and never let text from outside through
// unescaped: a card is a function of a record, the time and the links, and
// everything that a cluster, a repository or a person wrote is data.
//
// Why here and nowhere else: cutting, escaping and Slack's limits are easy to
// get wrong once per message, and hard to get wrong in one place with a
// golden file for every state.
package card
