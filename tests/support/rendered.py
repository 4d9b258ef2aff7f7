"""What GitHub's Markdown makes of a text, by GitHub's own parser."""
import html.parser
import subprocess


class Rendered(html.parser.HTMLParser):
    """The tags, and the text outside of code blocks."""

    def __init__(self, markdown):
        super().__init__()
        self.tags, self.outside, self.code, self.depth = set(), "", "", 0
        # Raw HTML is let through: what a sanitizer would have to take out is to be seen here.
        self.feed(subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "autolink", "-e", "table", "-e", "strikethrough"],
            input=markdown.encode(), capture_output=True, check=True).stdout.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.depth += tag in ("pre", "code")

    def handle_endtag(self, tag):
        self.depth -= tag in ("pre", "code")

    def handle_data(self, data):
        if self.depth > 0:
            self.code += data
        else:
            self.outside += data

    def problems(self):
        """Why this is not inert; empty if it is."""
        odd = self.tags - {"p", "h2", "pre", "code", "details", "summary", "ul", "li", "b"}
        return [f"tags {odd}"] * bool(odd) + [
            f"'{word}' outside of code" for word in ("@", "fixes #", "OWNED", "deadbeef", "```")
            if word in self.outside]
