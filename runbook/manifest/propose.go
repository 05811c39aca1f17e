package manifest

import "context"

// Limits bound what a proposal may read; zero values mean the defaults.
type Limits struct {
	// FileBytes bounds one file, SourceBytes all files of one source.
	FileBytes, SourceBytes int64
	// Files bounds the files of one source, Documents those in one file.
	Files, Documents int
}

// Propose finds edits that make the changes true in Git.
func Propose(ctx context.Context, req Request) (Proposal, error) {
	p := Proposal{}
	for _, c := range req.Changes {
		p.Changes = append(p.Changes, Verdict{Change: c, Class: UnsupportedTool, Why: "nothing can be rendered yet"})
	}
	return p, ctx.Err()
}
