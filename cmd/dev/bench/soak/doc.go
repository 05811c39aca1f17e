// Package soak plays a busy week in a few minutes: hundreds of people use the
// bot in dozens of channels of a local Slack that loses, delays, doubles and
// refuses things at random, while the bot's process may be killed at any
// moment. Afterwards what people saw is compared with what the bot remembers.
//
// It must never count a mishap of Slack's as the bot's fault, nor let one hide
// a fault: every act that Slack took for acknowledged has to have had its
// effect, once. It listens and calls on loopback only.
//
// Why the bot is a process of its own: kill -9 and resident memory mean
// nothing otherwise. Why with the real commands, engine, store and cards, and
// only the clusters and Git left out: decisions are lost or doubled between
// these parts, not within one of them.
//
// Why Slack's clock is fast: by Slack's limits (a message per second and
// channel, fifty edits per minute) ten thousand envelopes would take hours.
// The local Slack's clock and the bot's pauses between calls run Hurry times
// as fast, so that both keep the same limits in the same proportion. What
// people wait for (three seconds to acknowledge, three seconds for a modal)
// stays as long as it is.
package soak
