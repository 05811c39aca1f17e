package slacksim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gorilla/websocket"
)

func TestMessagesInOneFrameAreToldFromOthers(t *testing.T) {
	frame := func(first byte, size int) []byte {
		head := []byte{first, 0x80 | byte(size)}
		switch {
		case size > 0xffff:
			head = []byte{first, 0x80 | 127, 0, 0, 0, 0, 0, byte(size >> 16), byte(size >> 8), byte(size)}
		case size > 125:
			head = []byte{first, 0x80 | 126, byte(size >> 8), byte(size)}
		}
		return append(append(head, 1, 2, 3, 4), make([]byte, size)...)
	}
	const text, firstPart, part, end, ping = 0x81, 0x01, 0x00, 0x80, 0x89
	for name, c := range map[string]struct {
		sent [][]byte
		want []bool
	}{
		"one frame":                      {[][]byte{frame(text, 10)}, []bool{true}},
		"an empty one":                   {[][]byte{frame(text, 0)}, []bool{true}},
		"sizes of 16 and 64 bits":        {[][]byte{frame(text, 126), frame(text, 70_000)}, []bool{true, true}},
		"three frames":                   {[][]byte{frame(firstPart, 5), frame(part, 5), frame(end, 5)}, []bool{false}},
		"a ping between two parts":       {[][]byte{frame(firstPart, 5), frame(ping, 4), frame(end, 5)}, []bool{false}},
		"a whole one after one in parts": {[][]byte{frame(firstPart, 5), frame(end, 5), frame(text, 5)}, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			all := bytes.Join(c.sent, nil)
			for _, step := range []int{1, 3, len(all)} {
				var p frameParser
				var got []bool
				for chunk := range slices.Chunk(all, step) {
					got = append(got, p.feed(chunk)...)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("in steps of %d: %v, want %v", step, got, c.want)
				}
			}
		})
	}
}

func FuzzWhatAnAppSends(f *testing.F) {
	f.Add([]byte(`{"envelope_id":"x","payload":{"response_action":"update","view":{"type":"modal","blocks":[{"type":"input"}]}}}`))
	f.Add([]byte(`{"response_action":"errors","errors":{"a":"b"}}`))
	f.Add([]byte(`{"envelope_id":"","payload":"text","blocks":[{}]}`))
	sim, err := New(testSeed(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		sim.heard(&socket{frames: &watched{}}, websocket.TextMessage, raw)
		sim.mu.Lock()
		view := &View{User: "U0ALICE", Blocks: []Block{{Type: "input", ID: "a"}}}
		_, _ = sim.respond(view, raw)
		_ = sim.deliverHook(&hook{user: "U0ALICE", channel: "C0INC"}, hookBody{Text: "x", Blocks: raw})
		sim.mu.Unlock()
		inv := &Invocation{Answer: raw}
		_ = sim.commandAnswer(inv, sim.users["U0ALICE"], sim.channels["C0INC"], "/reconcile")
		var p frameParser
		p.feed(raw)
		sim.Reset()
	})
}
