// Package config reads the file of `reconcilebot serve --config FILE`.
//
// It must never hold a secret from the file's text, never print one, and
// never let a value through that would hurt later. Secrets come from files or
// from the environment, named by keys that end in File or Env.
//
// Why a decoder of its own: whoever edits this file at night should see every
// mistake at once, each with its line, its key and the cure. The usual ways
// to fill a struct from YAML stop at the first and know no lines.
package config
