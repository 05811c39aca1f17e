package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// scenarios plays all of the lab's scenarios. The lab's progress goes to
// Stderr as it comes: the first time it builds Kubernetes.
func scenarios(ctx context.Context, c Config, w io.Writer) (Tally, error) {
	var out bytes.Buffer
	ran := c.exec(ctx, c.Root, &out, c.Stderr, "go", "run", "./cmd/lab", "-scenario", "all", "-o", "json")
	tally, err := played(&out, w)
	if err != nil {
		return tally, errors.Join(ran, err)
	}
	return tally, ran
}

// played counts the scenarios in the lab's report.
func played(r io.Reader, w io.Writer) (t Tally, err error) {
	var report struct {
		Scenarios []struct {
			Name, Error string
			Pass        bool
		}
	}
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return t, fmt.Errorf("read the lab's report: %w", err)
	}
	for _, s := range report.Scenarios {
		if s.Pass {
			t.Passed++
			continue
		}
		t.Failed++
		if _, err := fmt.Fprintf(w, failure+"scenario %s: %s\n", s.Name, s.Error); err != nil {
			return t, err
		}
	}
	if len(report.Scenarios) == 0 {
		return t, errors.New("the lab played no scenario")
	}
	return t, nil
}
