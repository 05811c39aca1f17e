// Package slacksim is a Slack on this machine: the Web API, Socket Mode,
// response URLs and file uploads that an app sees, and a page on which a
// person plays the people of the workspace. An app reaches it by its API base
// URL and its tokens and is not told apart from an app on Slack.
//
// It must never listen on an address that others can reach, call out, lose an
// envelope by itself, or be kinder than Slack: limits, scopes, membership,
// lifetimes of triggers and response URLs are refused here as they are there.
//
// Why a whole Slack and not a fake per test: what goes wrong with Slack apps
// goes wrong between the parts. An acknowledgement that is late, a click that
// is delivered to another socket, a card edited after the channel was shared
// with strangers: none of these shows up when each call is faked by itself.
//
// FIDELITY.md says for each behaviour whether it is documented, was measured or
// is assumed, and where the source is. What is assumed has a switch in Options,
// and tests run both settings.
//
// What is not here: OAuth, search, canvases, calls, the admin API and RTM.
package slacksim
