// Package access says who is who, and who may do what to which target.
//
// It must never let anybody do what no rule names them for, never take what
// can't be read for a yes, and never refuse without saying who could.
//
// Why one judgement with its reasons: the bot acts on the verdict, the people
// who write the policy read the reasons, and both come from the same lines of
// code. A second implementation that explains would explain something else.
package access
