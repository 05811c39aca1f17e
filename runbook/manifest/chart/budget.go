package chart

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// Limits bound one render; zero values mean the defaults.
type Limits struct {
	// Time bounds the whole render, 20 seconds by default.
	Time time.Duration
	// Output bounds what all templates write together, 16 MiB by default;
	// Text bounds one string on the way, 8 MiB by default.
	Output, Text int
	// Work bounds what all function calls give back together, in bytes, 512
	// MiB by default.
	Work int
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 20 * time.Second
	}
	if l.Output <= 0 {
		l.Output = 16 << 20
	}
	if l.Text <= 0 {
		l.Text = 8 << 20
	}
	if l.Work <= 0 {
		l.Work = 512 << 20
	}
	return l
}

// maxDepth bounds templates within templates: far more than any chart needs,
// and far less than what the stack holds.
const maxDepth = 300

// budget is what is left to one render.
type budget struct {
	ctx      context.Context
	limits   Limits
	deadline time.Time
	steps    int
	output   int
	work     int
	depth    int
	// weights are those of maps that were weighed since the last change to any.
	weights map[uintptr]weighed
	// failed is the first bound that was reached. A template may swallow an
	// error; this stays.
	failed error
}

// weighed is a map's weight. The map is kept, so that its address is not
// given to another.
type weighed struct {
	n    int
	kept reflect.Value
}

func newBudget(ctx context.Context, l Limits) *budget {
	l = l.withDefaults()
	return &budget{ctx: ctx, limits: l, deadline: time.Now().Add(l.Time), output: l.Output, work: l.Work, weights: map[uintptr]weighed{}}
}

// fail gives up the render.
func (b *budget) fail(what string) error {
	if b.failed == nil {
		b.failed = fmt.Errorf("%s: %w", what, ErrTooLarge)
	}
	return b.failed
}

// step is called in every loop, template and function call.
func (b *budget) step() error {
	if b.failed != nil {
		return b.failed
	}
	if b.steps++; b.steps%64 != 0 {
		return nil
	}
	if err := b.ctx.Err(); err != nil {
		b.failed = context.Cause(b.ctx)
		return b.failed
	}
	if time.Now().After(b.deadline) {
		return b.fail("rendering takes longer than " + b.limits.Time.String())
	}
	return nil
}

// enter and leave stand at the beginning and the end of every template.
func (b *budget) enter() (string, error) {
	if b.depth++; b.depth > maxDepth {
		return "", b.fail("templates call each other too deeply")
	}
	return "", b.step()
}

func (b *budget) leave() (string, error) {
	b.depth--
	return "", nil
}

func (b *budget) tick() (string, error) { return "", b.step() }

// spend takes note of a result's size in bytes.
func (b *budget) spend(n int) error {
	if n > b.limits.Text {
		return b.fail("a text grows too large")
	}
	if b.work -= n; b.work < 0 {
		return b.fail("the templates make too much text")
	}
	return nil
}

// writer takes a template's output.
type writer struct {
	budget *budget
	buf    []byte
	// left is shared by all templates that are output, nil for a text that a
	// function gives back.
	left *int
}

func (w *writer) Write(p []byte) (int, error) {
	if w.left != nil {
		if *w.left -= len(p); *w.left < 0 {
			return 0, w.budget.fail("the templates write too much")
		}
	}
	if len(w.buf)+len(p) > w.budget.limits.Text && w.left == nil {
		return 0, w.budget.fail("a text grows too large")
	}
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// weigh measures what a value would come to if it were written out. One that
// holds itself, or another thousands of times, weighs more than may be.
func (b *budget) weigh(v any) error {
	if n := b.weight(reflect.ValueOf(v), 0); n > b.limits.Text {
		return b.fail("a value grows too large")
	}
	return nil
}

// maxNesting bounds maps and lists within each other.
const maxNesting = 200

func (b *budget) weight(v reflect.Value, depth int) int {
	tooMuch := b.limits.Text + 1
	if depth > maxNesting {
		return tooMuch
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return 1
		}
		return b.weight(v.Elem(), depth+1)
	case reflect.String:
		return 1 + v.Len()
	case reflect.Map:
		key := v.Pointer()
		if known, ok := b.weights[key]; ok {
			return known.n
		}
		n := 1
		for it := v.MapRange(); it.Next() && n < tooMuch; {
			n += b.weight(it.Key(), depth+1) + b.weight(it.Value(), depth+1)
		}
		b.weights[key] = weighed{n, v}
		return n
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return 1 + v.Len()
		}
		n := 1
		for i := 0; i < v.Len() && n < tooMuch; i++ {
			n += b.weight(v.Index(i), depth+1)
		}
		return n
	case reflect.Struct:
		n := 1
		for i := 0; i < v.NumField() && n < tooMuch; i++ {
			n += b.weight(v.Field(i), depth+1)
		}
		return n
	}
	return 8
}
