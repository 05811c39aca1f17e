package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"
)

// maxFile bounds the file: a larger one is not a config.
const maxFile = 1 << 20

// Load reads and checks the file at path. getenv gives the environment. The
// error is Problems when the file could be read but not used.
func Load(path string, getenv func(string) string) (*Config, error) {
	return loadFile(path, getenv, false)
}

// LoadWithoutSecrets is Load for those who need no secret, such as whoever
// checks a policy before it is rolled out: a token that is not there is no
// mistake.
func LoadWithoutSecrets(path string, getenv func(string) string) (*Config, error) {
	return loadFile(path, getenv, true)
}

func loadFile(path string, getenv func(string) string, blind bool) (*Config, error) {
	raw, err := read(path)
	if err != nil {
		return nil, err
	}
	c := defaults()
	n := &notes{file: path, lines: map[string]int{"": 1}}
	node, err := parse(raw)
	if err != nil {
		n.problems = append(n.problems, syntax(path, err))
		return nil, n.err()
	}
	decoder{n}.value(node, reflect.ValueOf(&c).Elem(), "")
	checker{notes: n, c: &c, dir: filepath.Dir(path), getenv: getenv, blind: blind}.all()
	if err := n.err(); err != nil {
		return nil, err
	}
	return &c, nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("config file %s does not exist; deploy/base/config.yaml is an example to start from", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open config file: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read config file: %w", err)
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("config file %s is larger than 1 MiB; is it the right file?", path)
	}
	return raw, nil
}

// parse returns the only document of the text.
func parse(raw []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty; deploy/base/config.yaml is an example to start from")
	case err != nil:
		return nil, fmt.Errorf("%w; close brackets and quotes, and indent with spaces, on this line and those beside it", err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("yaml: line %d: a second document begins; a config is one document, without a line ---", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return doc.Content[0], nil
}

// yamlLine is where yaml.v3 puts the line into its errors:
// "yaml: line 3: mapping values are not allowed in this context".
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func syntax(path string, err error) Problem {
	p := Problem{File: path, Say: yamlLine.ReplaceAllString(err.Error(), "")}
	switch m := yamlLine.FindStringSubmatch(err.Error()); {
	case m == nil:
	case m[1] == "":
		p.Line = 1 // the first line is the one that yaml.v3 leaves out
	default:
		p.Line, _ = strconv.Atoi(m[1])
	}
	return p
}
