// Package drift says what differs between Git and the cluster, who or what
// made it differ, and what the controller will do about it.
//
// It must never write anywhere, never name a person from anything but the
// audit log or the controller's own trail, never take "Synced" for "nobody
// touched it", and never let a Secret's value out. What it can't judge it
// refuses to judge, with the reason.
//
// Why it never asks Argo CD for a refresh: a refresh that finds a new commit
// starts an automated sync, also with self-heal off, and that sync undoes the
// very change that is to be looked at. Instead the live objects' versions are
// read from the cluster, and Argo CD is given a moment to have seen at least
// those.
package drift
