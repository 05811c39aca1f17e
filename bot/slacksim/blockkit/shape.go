package blockkit

// Object is a JSON object: a block, an element or a part of one.
type Object = map[string]any

// Surface is where blocks are shown; not every block may appear everywhere.
type Surface string

// The surfaces.
const (
	Message Surface = "message"
	Modal   Surface = "modal"
	Home    Surface = "home"
)

// want is the kind of value that a field holds.
type want int

const (
	wantString want = iota
	wantNumber
	wantBool
	wantText    // a text object; least and most are its characters
	wantObject  // an object, one of the types or the named shape
	wantList    // of such objects; least and most are its items
	wantStrings // a list of strings
	wantRows    // a list of lists of objects
	wantAny
)

// field is what Slack says of one field.
type field struct {
	want        want
	need        bool
	least, most int      // characters, items or the number itself; most 0 is no limit
	types       []string // of a text object, or of the objects within
	shape       string   // of objects that have no type
	enum        []string
	each        int  // characters of each text in a list, or cells of each row
	blocks      bool // the objects within are blocks, also where an element has that type
}

type shape map[string]field

// needed is the field, which must be there.
func needed(f field) field {
	f.need = true
	return f
}

func chars(most int) field { return field{want: wantString, most: most} }

func someChars(most int) field { return field{want: wantString, least: 1, most: most} }

func oneOf(values ...string) field { return field{want: wantString, enum: values} }

func number(least, most int) field { return field{want: wantNumber, least: least, most: most} }

func flag() field { return field{want: wantBool} }

func plain(most int) field {
	return field{want: wantText, least: 1, most: most, types: []string{"plain_text"}}
}

func mrkdwn(most int) field {
	return field{want: wantText, least: 1, most: most, types: []string{"mrkdwn"}}
}

func text(most int) field {
	return field{want: wantText, least: 1, most: most, types: []string{"plain_text", "mrkdwn"}}
}

func object(types ...string) field { return field{want: wantObject, types: types} }

func shaped(name string) field { return field{want: wantObject, shape: name} }

func list(least, most int, types ...string) field {
	return field{want: wantList, least: least, most: most, types: types}
}

func listOf(name string, least, most int) field {
	return field{want: wantList, least: least, most: most, shape: name}
}

func stringList(least int) field { return field{want: wantStrings, least: least} }

// with adds fields to a shape.
func (s shape) with(more ...shape) shape {
	out := shape{}
	for _, m := range append(more, s) {
		for k, f := range m {
			out[k] = f
		}
	}
	return out
}
