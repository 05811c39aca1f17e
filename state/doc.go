// Package state is what the bot remembers: records in one bbolt file.
//
// It knows no Slack, no cluster and no Git: a record holds facts that others
// interpret. It never calls out from inside a transaction, and it never
// forgets something that it has acknowledged.
//
// Why one file and no server: a bot that mends production must start when
// everything else is down. Why every public method is one transaction: a
// reader can then see what survives a crash by reading the method. The
// methods work on single records with revisions, so a store on etcd can stand
// in when one process is not enough.
package state
