package chart

import (
	"reflect"
	"strings"
)

// bounds estimate, from above, how many bytes or steps a function's result
// takes, for those whose result may be much larger than what they are given,
// or which take much longer than they are long. False means too much.
var bounds = map[string]func(args []reflect.Value) (int, bool){
	"repeat": func(a []reflect.Value) (int, bool) { return times(number(a[0]), length(a[1])) },
	"indent": indented, "nindent": indented,
	"until": func(a []reflect.Value) (int, bool) { return count(0, number(a[0]), 1) },
	"untilStep": func(a []reflect.Value) (int, bool) {
		return count(number(a[0]), number(a[1]), number(a[2]))
	},
	"seq": func(a []reflect.Value) (int, bool) {
		var n []int
		for i := range a[0].Len() {
			n = append(n, number(a[0].Index(i)))
		}
		switch len(n) {
		case 1:
			return count(1, n[0], 1)
		case 2:
			return count(n[0], n[1], 1)
		case 3:
			return count(n[0], n[2], n[1])
		}
		return 0, true
	},
	"replace": func(a []reflect.Value) (int, bool) {
		return times(strings.Count(text(a[2]), text(a[0])), length(a[1]))
	},
	"regexReplaceAll": amplified, "mustRegexReplaceAll": amplified,
	"regexReplaceAllLiteral": amplified, "mustRegexReplaceAllLiteral": amplified,
	"wrapWith": func(a []reflect.Value) (int, bool) { return times(length(a[2])+1, length(a[1])+1) },
	"join":     func(a []reflect.Value) (int, bool) { return times(items(a[1])+1, length(a[0])+1) },
	"printf":   formatted,
	"uniq":     squared, "mustUniq": squared,
	"without": func(a []reflect.Value) (int, bool) { return times(items(a[0]), items(a[1])) }, "mustWithout": func(a []reflect.Value) (int, bool) { return times(items(a[0]), items(a[1])) },
	"abbrevboth": func([]reflect.Value) (int, bool) { return 0, true },
}

// maxItems bounds lists that are counted up.
const maxItems = 100_000

func count(from, to, step int) (int, bool) {
	if step == 0 {
		return 0, true
	}
	n := (to-from)/step + 1
	if n < 0 {
		n = -n
	}
	return n, n <= maxItems && n >= 0
}

// times multiplies without running over.
func times(a, b int) (int, bool) {
	if a <= 0 || b <= 0 {
		return 0, true
	}
	if a > 1<<40 || b > 1<<20 && a > 1<<20 {
		return 0, false
	}
	return a * b, true
}

func indented(a []reflect.Value) (int, bool) {
	return times(strings.Count(text(a[1]), "\n")+1, number(a[0]))
}

// amplified bounds what a replacement may come to: it may hold what was
// matched more than once.
func amplified(a []reflect.Value) (int, bool) {
	pattern, in, by := text(a[0]), length(a[1]), text(a[2])
	if len(pattern) > 1000 {
		return 0, false
	}
	if !strings.Contains(by, "$") {
		return times(in+1, len(by))
	}
	return times(2*(in+1), len(by))
}

// formatted adds up the widths that a format asks for.
func formatted(a []reflect.Value) (int, bool) {
	sum, n := 0, 0
	for _, r := range text(a[0]) {
		switch {
		case r >= '0' && r <= '9' && n < 1<<30:
			n = n*10 + int(r-'0')
		case r == '*':
			return 0, false
		default:
			sum, n = sum+n, 0
		}
	}
	return sum + n, true
}

// squared is for functions that compare all items with each other.
func squared(a []reflect.Value) (int, bool) { return times(items(a[0]), items(a[0])) }

// items is the length of a list in an argument.
func items(v reflect.Value) int {
	v = inner(v)
	if k := v.Kind(); k == reflect.Slice || k == reflect.Array || k == reflect.Map {
		return v.Len()
	}
	return 1
}

func number(v reflect.Value) int {
	v = inner(v)
	switch {
	case v.CanInt():
		return int(v.Int())
	case v.CanUint():
		return int(v.Uint() >> 1)
	case v.CanFloat():
		return int(v.Float())
	}
	return 0
}

func text(v reflect.Value) string {
	if v = inner(v); v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

func length(v reflect.Value) int { return len(text(v)) }

func inner(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}
