// Package commands turns people's words and clicks into typed requests, says
// who may do what, and answers with cards.
//
// It must never post anything, never act before it has authorised, and never
// believe what a button or a modal carries: ids are looked up again, rights
// are checked again.
//
// Why one table: help, the Slack app's manifest, the parser and the test of
// the rights are all made from the same rows, so a command that exists is a
// command that is documented, registered and guarded.
package commands
