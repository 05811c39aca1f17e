package chart

import (
	"fmt"
	"sync"
	"text/template"
	"text/template/parse"
)

// trees keeps what was parsed: a chart is rendered many times while a value
// is looked for.
type trees struct {
	mu    sync.Mutex
	known map[treeKey]parsed
}

type treeKey struct{ name, text string }

type parsed struct {
	trees map[string]*parse.Tree
	err   error
}

// The checks' names, which no template can write.
const enterName, leaveName, tickName = "_enter", "_leave", "_tick"

// parse gives the templates that a text defines, with the checks in them.
func (t *trees) parse(name, text string, functions template.FuncMap) (map[string]*parse.Tree, error) {
	key := treeKey{name, text}
	t.mu.Lock()
	p, ok := t.known[key]
	t.mu.Unlock()
	if ok {
		return p.trees, p.err
	}
	p.trees, p.err = parseChecked(name, text, functions)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) < maxTrees {
		t.known[key] = p
	}
	return p.trees, p.err
}

// maxTrees bounds what is kept: templates may make templates.
const maxTrees = 5000

func parseChecked(name, text string, functions template.FuncMap) (found map[string]*parse.Tree, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse %s: the parser breaks off", name)
		}
	}()
	// What is built into text/template is known by name alone here; it is
	// looked up when it is called.
	builtins := template.FuncMap{}
	for _, name := range []string{"and", "or", "not", "call", "index", "slice", "len", "eq", "ge", "gt", "le", "lt", "ne"} {
		builtins[name] = true
	}
	if found, err = parse.Parse(name, text, "", "", functions, builtins); err != nil {
		return nil, err
	}
	for _, tree := range found {
		if tree.Root == nil {
			continue
		}
		check(tree.Root)
		if parse.IsEmptyTree(tree.Root) {
			continue // it stays one: it must not replace another template
		}
		nodes := append([]parse.Node{checkNode(enterName)}, tree.Root.Nodes...)
		tree.Root.Nodes = append(nodes, checkNode(leaveName))
	}
	return found, nil
}

// check puts a check into every loop below a node.
func check(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, c := range n.Nodes {
			check(c)
		}
	case *parse.IfNode:
		check(n.List)
		check(n.ElseList)
	case *parse.WithNode:
		check(n.List)
		check(n.ElseList)
	case *parse.RangeNode:
		check(n.List)
		check(n.ElseList)
		n.List.Nodes = append([]parse.Node{checkNode(tickName)}, n.List.Nodes...)
	}
}

// checkNode is a call of one of the checks, which writes nothing.
func checkNode(name string) parse.Node {
	trees, err := parse.Parse("check", "{{"+name+"}}", "", "", map[string]any{name: true})
	if err != nil {
		panic(err) // the text is written above
	}
	return trees["check"].Root.Nodes[0]
}
