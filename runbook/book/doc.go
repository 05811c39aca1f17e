// Package book holds the runbooks: adopt a change into Git, revert the cluster
// to Git, make a change through Git to begin with, roll a commit back, or pause the reconciliation
// of a target, each a list of steps that reads as what will happen.
//
// A step must never act on what an earlier one remembered without looking
// again, never bypass a branch's rules, and never do twice what a crash may
// have hidden: it looks for its effect first.
//
// Why the plan is made twice: people approve what they were shown, and time
// passes until they do. Before the first act the plan is made again from
// fresh reads; only when it comes out the same do their votes count.
//
// The way from the runbook "Reconcile an Emergency Manual Production Change"
// to the steps here, and the lab's scenario that shows it:
//
//	runbook                                          step            scenario
//	2 identify the changed resource and its owner    survey          scaled-adopt
//	2 capture the live state, the Git history        survey, plan    scaled-adopt
//	2 identify the approver before pushing           plan            scaled-adopt
//	3 steps 1-3: update the manifest in Git          plan, push      scaled-adopt
//	3 step 4: branch, pull request, review           pull-request,   scaled-adopt, killed-between-push-and-pull-request
//	                                                 merge
//	3 step 5: trigger reconciliation after merge     refresh, sync   scaled-adopt, argocd-down-then-back
//	3 step 6: Synced and Healthy                     verify          scaled-adopt
//	3 step 10: record                                record          scaled-adopt
//	4 a further refresh shows no difference          settle          scaled-adopt
//	case: revert the cluster to match Git            sync            scaled-revert
//	case: the audit log names who wrote              survey          author-cannot-approve
//	2 several changes, not all still needed          choose, plan,   runbook-per-field, runbook-some-adopted
//	                                                 merge, sync
//	case: a revert of what no sync removes           plan, sync      runbook-added-by-hand
//	5 the commit was wrong, or found wrong later     plan, push …    runbook-rollback, runbook-rollback-commit,
//	                                                 sync            runbook-rollback-overtaken
//	case: make the Git path the only path            deploy/policy   runbook-policy-git-only
//	case: the edit in Git first, merged, synced      plan … sync     runbook-change, runbook-change-heals,
//	                                                                 runbook-change-refused, runbook-change-fix
//
// And from the lesson "Drift, rollback and recovery", during an incident:
//
//	pause reconciliation for the affected app only   inspect, halt,  runbook-pause-holds, runbook-pause-parent,
//	                                                 drain, hold     runbook-pause-git-down
//	make the change, put it into Git                 (adopt)         runbook-pause-then-adopt
//	resume, and confirm Synced with no diff          simulate,       runbook-pause-holds, runbook-pause-ends
//	                                                 restore, verify
//	a forgotten pause becomes permanent drift: alert remind, expire, runbook-pause-asks, runbook-pause-extended,
//	                                                 approve         runbook-pause-killed
//	(a merge must not erase what others did by hand) merge           runbook-pause-for-a-merge
//	(others pause, or end a pause)                   hold, remind    runbook-pause-by-others, runbook-pause-undone
package book
