package manifest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Same tells whether two decoded JSON values mean the same wherever they
// stand: numbers of any Go type by their value, a number and a string that is
// that number as a quantity or port ("80" and 80, "1" and 1), maps and lists
// by what they hold. A nil map value and an absent one are the same: the API
// server drops nulls.
//
// Two different strings are never the same here, since an environment
// variable "1.0" is not "1"; SameAt knows the fields that are quantities.
func Same(a, b any) bool { return same(nil, a, b) }

// SameAt is Same for values at a path; where the API has a resource quantity
// there, "1000m" and "1" are the same.
func SameAt(path Path, a, b any) bool { return same(path, a, b) }

func same(path Path, a, b any) bool {
	a, b = plain(a), plain(b)
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && sameMaps(path, x, y)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(a, b any) bool { return same(path.Child(At(0)), a, b) })
	case nil, bool:
		return a == b
	}
	switch b.(type) {
	case nil, bool, map[string]any, []any:
		return false
	}
	return sameScalars(path, a, b)
}

func sameMaps(path Path, x, y map[string]any) bool {
	for key, v := range x {
		if !same(path.Child(Key(key)), v, y[key]) {
			return false
		}
	}
	for key, v := range y {
		if _, ok := x[key]; !ok && v != nil {
			return false
		}
	}
	return true
}

// sameScalars compares numbers and strings.
func sameScalars(path Path, a, b any) bool {
	s, aText := a.(string)
	t, bText := b.(string)
	if aText && bText {
		return s == t || isQuantity(path) && sameQuantity(s, t)
	}
	if aText || bText {
		return sameQuantity(fmt.Sprint(a), fmt.Sprint(b))
	}
	if a == b {
		return true
	}
	x, okX := number(string(a.(json.Number)))
	y, okY := number(string(b.(json.Number)))
	return okX && okY && x.Cmp(y) == 0
}

func number(text string) (*big.Rat, bool) {
	if !isShort(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// maxQuantity bounds the text that is read as a number.
const maxQuantity = 40

// isShort tells whether a text may be read as a number. A quantity is short,
// and an exponent of a million would become as many digits in memory.
func isShort(text string) bool {
	e := strings.LastIndexAny(text, "eE")
	return len(text) <= maxQuantity && (e < 0 || len(text)-e <= len("e+100"))
}

func sameQuantity(a, b string) bool {
	if a == b {
		return true
	}
	if !isShort(a) || !isShort(b) {
		return false
	}
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

// plain turns Go's number types into json.Number and leaves the rest.
func plain(v any) any {
	switch n := v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		raw, err := json.Marshal(n)
		if err != nil {
			return fmt.Sprint(n) // NaN and infinities, which JSON has not
		}
		return json.Number(raw)
	}
	return v
}

// isQuantity tells whether the API has a resource quantity at a path: the
// fields of that type in the built-in kinds.
//
// Source: k8s.io/api v0.31, all fields of type resource.Quantity.
func isQuantity(path Path) bool {
	if len(path) == 0 {
		return false
	}
	switch path[len(path)-1].Key {
	case "sizeLimit", "averageValue", "divisor":
		return true
	case "value":
		return len(path) > 1 && path[len(path)-2].Key == "target"
	case "memory", "cpu", "storage", "ephemeral-storage":
		return inQuantities(path)
	}
	return len(path) > 1 && inQuantities(path) && strings.ContainsAny(path[len(path)-1].Key, "/-.")
}

// inQuantities tells whether the map around a field is a resource list.
func inQuantities(path Path) bool {
	if len(path) < 2 {
		return false
	}
	switch path[len(path)-2].Key {
	case "limits", "requests", "hard", "capacity", "allocatable", "overhead", "podFixed",
		"max", "min", "default", "defaultRequest", "maxLimitRequestRatio":
		return true
	}
	return false
}
