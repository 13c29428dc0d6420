# SPDX-License-Identifier: Apache-2.0
"""test_site.py SOURCE FOLDER - builds the documentation site into FOLDER, a warning is an error, and looks at its pages:
every link, anchor and picture leads somewhere, the sidebar has every page, the search knows its words, and the names of
the Python package are there. Run it with a Python that has sphinx, myst_parser, sphinx_copybutton and furo."""

import ast
import os
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

SITE, SOURCE = (os.path.abspath(sys.argv.pop()) for _ in range(2))


class Html(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.targets = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids.add(named.get("id"))
        self.targets += [named[key] for key in ("href", "src") if tag in ("a", "img", "script", "link") and named.get(key)]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-j", "auto", "-c",
                               os.path.join(SOURCE, "docs", "site"), SOURCE, SITE], text=True, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        cls.pages = {os.path.join(folder, name): None for folder, _, names in os.walk(SITE) for name in names
                     if name.endswith(".html")}
        for path in cls.pages:
            cls.pages[path] = Html(path)

    def test_links(self):
        dead, count = [], 0
        for path, page in self.pages.items():
            for target in page.targets:
                parts = urlsplit(target)
                if parts.scheme or parts.netloc:
                    continue
                file = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
                anchor, count = unquote(parts.fragment), count + 1
                if not os.path.exists(file) or (anchor and file in self.pages and anchor not in self.pages[file].ids):
                    dead.append("%s: %s" % (os.path.relpath(path, SITE), target))
        self.assertEqual(dead, [])
        self.assertGreater(count, 3000)

    def test_links_within_pages(self):
        """A link of the Markdown to a heading of its own page is one of the site."""
        for name in ("tridiag", "smallsym", "design", "api"):
            text = re.sub(r"(?ms)^```.*?^```", "", read(SOURCE, "docs", name + ".md"))
            html = read(SITE, "docs", name + ".html").split("<article")[1].split("</article>")[0]
            self.assertGreaterEqual(html.count('class="reference internal" href="#'), len(re.findall(r"\]\(#", text)), name)

    def test_no_network(self):
        """Scripts, styles, fonts and pictures come with the site."""
        for path, page in self.pages.items():
            for target in re.findall(r'(?:<script[^>]*src|<link[^>]*href|<img[^>]*src)="(https?:[^"]*)', read(path)):
                self.fail("%s: %s" % (path, target))

    def test_sidebar(self):
        """From the landing page to every document."""
        linked = {os.path.normpath(urlsplit(target).path) for target in self.pages[os.path.join(SITE, "index.html")].targets}
        for name in os.listdir(os.path.join(SOURCE, "docs")):
            if name.endswith(".md"):
                self.assertIn("docs/%s.html" % name[:-3], linked)

    def test_search(self):
        index = read(SITE, "searchindex.js")
        for word in ("twocarri", "pivot", "solve_tridiagon", "shoal_open", "antithet"):  # as the search stems them
            self.assertTrue(re.search(r'\b%s"?:' % word, index), word)

    def test_names(self):
        """Every function of the C API and every public name of the Python package."""
        api, python = read(SITE, "docs", "api.html"), read(SITE, "docs", "python.html")
        for name in read(SOURCE, "abi", "libshoal.symbols").split("\n"):
            if name and name[0] != "#":
                self.assertTrue(name in api, name)
        for file, module in (("__init__.py", "shoal"), ("price.py", "shoal.price"), ("calibrate.py", "shoal.calibrate")):
            names = ast.literal_eval(re.search(r"__all__ = (\[.*?\])", read(SOURCE, "python", "shoal", file), re.S)[1])
            for name in set(names) - {"price", "calibrate"}:
                self.assertTrue(">%s.%s<" % (module, name) in python, name)


if __name__ == "__main__":
    unittest.main()
