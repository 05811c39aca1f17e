package chart

import (
	"context"
	"slices"
	"strings"
	"text/template/parse"

	helm "helm.sh/helm/v3/pkg/chart"
)

// Reference is a value that a template names, whether it is set or not.
type Reference struct {
	// Keys lead to it in the values of the whole.
	Keys []string
	// Template is where the file that names it is kept.
	Template string
}

// References lists the values that templates name in full, such as
// .Values.image.tag. What they reach by other ways, such as a loop, is not
// among them.
func (c *Chart) References() []Reference {
	// Only the functions' names matter: none is called.
	functions := newBudget(context.Background(), Limits{}).functions(0)
	for _, name := range []string{"include", "tpl"} {
		functions[name] = func() string { return "" }
	}
	f := finder{chart: c, functions: functions, seen: map[string]bool{}}
	f.walk(c.root, nil)
	return f.list
}

type finder struct {
	chart     *Chart
	functions map[string]any
	list      []Reference
	seen      map[string]bool
	prefix    []string
	template  string
}

func (f *finder) walk(of *helm.Chart, prefix []string) {
	for _, t := range of.Templates {
		if t == nil {
			continue
		}
		// A text that can't be parsed refers to nothing.
		trees, _ := f.chart.trees.parse(t.Name, string(t.Data), f.functions)
		names := make([]string, 0, len(trees))
		for name := range trees {
			names = append(names, name)
		}
		slices.Sort(names)
		f.prefix, f.template = prefix, f.chart.pathOf(t.Data)
		for _, name := range names {
			if trees[name].Root != nil {
				f.node(trees[name].Root)
			}
		}
	}
	for _, d := range f.chart.defaults(of, prefix)[1:] {
		if len(d.Prefix) != len(prefix)+1 {
			continue
		}
		for _, sub := range of.Dependencies() {
			if sub.Name() == d.Prefix[len(prefix)] || slices.ContainsFunc(of.Metadata.Dependencies, func(w *helm.Dependency) bool {
				return w != nil && w.Name == sub.Name() && w.Alias == d.Prefix[len(prefix)]
			}) {
				f.walk(sub, d.Prefix)
			}
		}
	}
}

// node looks below a node. The order is that of the text.
func (f *finder) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, c := range n.Nodes {
			f.node(c)
		}
	case *parse.ActionNode:
		f.node(n.Pipe)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			f.node(n.Pipe)
		}
	case *parse.IfNode:
		f.branch(&n.BranchNode)
	case *parse.WithNode:
		f.branch(&n.BranchNode)
	case *parse.RangeNode:
		f.branch(&n.BranchNode)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, c := range n.Cmds {
			for _, a := range c.Args {
				f.node(a)
			}
		}
	case *parse.ChainNode:
		f.node(n.Node)
	case *parse.FieldNode:
		f.add(n.Ident)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			f.add(n.Ident[1:])
		}
	}
}

func (f *finder) branch(n *parse.BranchNode) {
	f.node(n.Pipe)
	f.node(n.List)
	f.node(n.ElseList)
}

func (f *finder) add(keys []string) {
	i := slices.Index(keys, "Values")
	if i < 0 || i > 1 || len(keys) < i+2 {
		return
	}
	keys = append(slices.Clip(f.prefix), keys[i+1:]...)
	key := f.template + "\x00" + strings.Join(keys, "\x00")
	if !f.seen[key] {
		f.seen[key] = true
		f.list = append(f.list, Reference{Keys: keys, Template: f.template})
	}
}
