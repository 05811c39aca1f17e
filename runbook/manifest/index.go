package manifest

import (
	"context"
	"encoding/json"
	"sync"
)

// Index remembers what is known of one tree, so that the next proposal for
// the same tree need not find out again: who reads what, and what they render
// before any edit. It must not be used for another tree, nor after the tree
// has changed. It is safe for concurrent use.
type Index struct {
	mu sync.Mutex
	// readers are by source, as JSON.
	readers map[string]known
	// last is the source that was rendered last, as a target.
	last     string
	rendered []Resource
}

// known is what is known of one source.
type known struct {
	reader *reader
	opaque *opaque
}

// NewIndex is an index that knows nothing yet.
func NewIndex() *Index { return &Index{readers: map[string]known{}} }

// Fill looks up what sources read, ahead of the first proposal.
func (x *Index) Fill(ctx context.Context, tree Tree, sources []Source, limits Limits) error {
	_, err := newReaders(ctx, newFiles(tree, limits), Request{Consumers: sources, Index: x})
	return err
}

// Render is RenderDir, and remembers the result for the proposal that follows.
func (x *Index) Render(ctx context.Context, tree Tree, src Source, limits Limits) ([]Resource, error) {
	list, err := RenderDir(ctx, tree, src, limits)
	if err == nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.last, x.rendered = keyOf(src), list
	}
	return list, err
}

// take gives what Render has remembered for a source.
func (x *Index) take(src Source) ([]Resource, bool) {
	if x == nil {
		return nil, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rendered, x.rendered != nil && x.last == keyOf(src)
}

func (x *Index) get(src Source) (known, bool) {
	if x == nil {
		return known{}, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k, ok := x.readers[keyOf(src)]
	return k, ok
}

func (x *Index) put(src Source, k known) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readers[keyOf(src)] = k
}

func keyOf(src Source) string {
	// A source is made of what JSON can write.
	key, _ := json.Marshal(src)
	return string(key)
}
