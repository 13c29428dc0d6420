# SPDX-License-Identifier: Apache-2.0
"""The documentation site (`make site`): Sphinx over the Markdown of this tree. Its sidebar follows docs/index.md."""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import python_api  # noqa: E402


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


project, author, copyright = "Shoal", "", "the authors of Shoal, Apache-2.0"
version = release = ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", read("include/shoal/core.h")))
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/papers/*.md", "bench/results/README.md",
                    "tests/*/README.md"]
exclude_patterns = ["build*", "out", ".[a-z]*", "src", "cli"]
myst_heading_anchors = 6
myst_linkify_fuzzy_links = False
highlight_language = "text"
pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "Shoal " + version
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

PAGE_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)\.md\)")


def sidebar():
    """Hidden tables of contents: a heading of docs/index.md, and the pages that are linked below it."""
    parts = []
    for section in re.split(r"(?m)^## ", read("docs/index.md"))[1:]:
        pages = ["%s </%s>" % (title, os.path.normpath("docs/" + link)) for title, link in PAGE_LINK.findall(section)]
        pages += [] if parts else ["All pages </docs/index>"]
        parts.append("```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (section.split("\n")[0], "\n".join(pages)))
    return "\n".join(parts)


def to_folders(page, text):
    """Links to folders become plain text: a site has no listings of them."""
    def plain(found):
        target = os.path.join(ROOT, os.path.dirname(page), found[2].split("#")[0])
        return found[1] if os.path.isdir(target) else found[0]
    return re.sub(r"\[([^][]*)\]\(([^#):][^):]*)\)", plain, text)


def read_source(app, docname, source):
    source[0] = to_folders(docname, source[0])
    if docname == root_doc:
        source[0] += "\n" + sidebar()
    if docname == "docs/python":
        source[0] += "\n" + python_api.markdown(os.path.join(ROOT, "python", "shoal"))


def copy_landing_page(app, error):
    if not error and app.builder.name == "html":
        shutil.copy(os.path.join(app.outdir, "README.html"), os.path.join(app.outdir, "index.html"))


def setup(app):
    app.connect("source-read", read_source)
    app.connect("build-finished", copy_landing_page)
