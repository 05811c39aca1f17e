package spell

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"serve", "doctor", "version", "manifest", "help", "tokenFile"}
	for word, want := range map[string]string{
		"serv":      "serve",
		"sevre":     "serve",
		"docter":    "doctor",
		"Version":   "version",
		"tokenfile": "tokenFile",
		"tokanFile": "tokenFile",
		"frobnify":  "",
		"":          "",
		"x":         "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
