package githubsim

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"paragraphs", "one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"},
		{"bold and code", "**so** it `is **not**`", "<p><strong>so</strong> it <code>is **not**</code></p>\n"},
		{"a link", "[a](https://x.example/?a=1&b=2)", `<p><a rel="noreferrer" href="https://x.example/?a=1&amp;b=2">a</a></p>` + "\n"},
		{"a link that runs a script", "[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"},
		{"a link without a host", "[a](https:foo)", "<p>[a](https:foo)</p>\n"},
		{"a link that leaves its attribute", `[a](https://x/"onclick=")`, `<p><a rel="noreferrer" href="https://x/%22onclick=%22">a</a></p>` + "\n"},
		{"an element", "<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"},
		{"small print", "<sub>a `b` <i></sub>", "<p><sub>a <code>b</code> &lt;i&gt;</sub></p>\n"},
		{"small print without an end", "<sub>a", "<p>&lt;sub&gt;a</p>\n"},
		{"escapes", `\*a\* &lt;b&gt; \`, `<p>*a* &lt;b&gt; \</p>` + "\n"},
		{"a table", "| a | b |\n|---|:-:|\n| 1 \\| 2 | **x** |", `<div class="scroll"><table><tr><th>a</th><th>b</th></tr>` + "\n<tr><td>1 | 2</td><td><strong>x</strong></td></tr>\n</table></div>\n"},
		{"a table without a head", "| | |\n|---|---|\n| a | b |", `<div class="scroll"><table><tr><td>a</td><td>b</td></tr>` + "\n</table></div>\n"},
		{"a diff", "```diff\n- a<\n+ b\n c\n```\nx", `<pre class="code"><span class="del">- a&lt;</span>` + "\n" + `<span class="add">+ b</span>` + "\n c\n</pre>\n<p>x</p>\n"},
		{"code without an end", "```\na", `<pre class="code">a` + "\n</pre>\n"},
		{"lists", "- a\n- b\n\n1. c", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol>\n<li>c</li>\n</ol>\n"},
		{"a heading", "## a", "<h3>a</h3>\n"},
		{"a comment", "<!-- a -->\nb", "<p>b</p>\n"},
	} {
		if got := string(markdown(c.text)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"**a**", "| a |\n|-|\n|\\", "[a](https://b)", "<sub>[**`", "```diff\n+"} {
		f.Add(seed)
	}
	ours := strings.NewReplacer("<p>", "", "</p>", "", "<code>", "", "</code>", "", "<strong>", "", "</strong>", "", "<sub>", "", "</sub>", "", "<ul>", "", "</ul>", "", "<ol>", "", "</ol>", "",
		"<li>", "", "</li>", "", "<table>", "", "</table>", "", `<div class="scroll">`, "", "</div>", "", "<tr>", "", "</tr>", "", "<th>", "", "</th>", "", "<td>", "", "</td>", "", `<pre class="code">`, "", "</pre>", "",
		`<span class="add">`, "", `<span class="del">`, "", "</span>", "", "<h2>", "", "</h2>", "", "<h3>", "", "</h3>", "", "<h4>", "", "</h4>", "", "<h5>", "", "</h5>", "", "<h6>", "", "</h6>", "",
		`<a rel="noreferrer" href="http`, "", `">`, "", "</a>", "")
	f.Fuzz(func(t *testing.T, text string) {
		if left := ours.Replace(string(markdown(text))); strings.Contains(left, "<") {
			t.Errorf("an element that is not ours: %q of %q", left, text)
		}
	})
}

func TestADiffIsReadByItsCounts(t *testing.T) {
	files := parseDiff("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-- was\n+++ is\n diff --git a/y b/y\n-b\n+c\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+z\n\\ No newline at end of file")
	if len(files) != 2 || files[0].Added != 2 || files[0].Removed != 2 || files[0].Lines[1].Text != "- was" || files[1].Name != "new" || files[1].Note != "new" || files[1].Added != 1 {
		t.Errorf("files = %+v", files)
	}
}
