// Package githubsim is a Git host that is GitHub as far as a client can tell:
// REST under /api/v3/, smart HTTP Git on real bare repositories, protected
// branches, code owners, reviews, checks and merges, and plain pages for
// people.
//
// It must never be kinder than GitHub: what GitHub refuses, it refuses, with
// the same status and the same kind of words.
//
// Why git itself does the Git: merges, rebases and histories are then what
// git says they are, and a client's clone is a real clone. Only what GitHub
// keeps outside of Git, such as reviews, is kept in memory here.
package githubsim
