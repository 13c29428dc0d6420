# SPDX-License-Identifier: Apache-2.0
"""A page of results as one HTML file: takes what the Markdown pages are written with, and has its pictures inside."""

import html
import os
import re
import tempfile

from results import Page

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#20262c}
table{border-collapse:collapse;margin:.6em 0;font-size:13px;font-variant-numeric:tabular-nums}
td,th{border-bottom:1px solid #d8dde2;padding:.2em .7em;text-align:right}td:first-child,th:first-child{text-align:left}
section{border-top:2px solid #d8dde2;margin-top:2em}.paper{color:#5c6670}.verdict{font-weight:600}
code{background:#f1f3f5;padding:0 .2em}pre{background:#f1f3f5;padding:.6em;overflow-x:auto;font-size:12px}svg{max-width:100%}"""


def inline(text):
    """`code`, **bold** and [links](to) of a line of Markdown; a link keeps its text alone."""
    text = html.escape(text, quote=False)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", text)


class HtmlPage(Page):
    """`charts` draws the pictures; with None there are the tables alone."""

    def __init__(self, path, title, charts):
        super().__init__(path, charts)
        self.title, self.contents, self.is_list = title, [], False

    def raw(self, text):
        self.end_list()
        self.lines.append(text)

    def end_list(self):
        if self.is_list:
            self.lines.append("</ul>")
        self.is_list = False

    def begin_section(self, name, about):
        anchor = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        self.contents.append('<a href="#%s">%s</a>' % (anchor, html.escape(name)))
        self.raw('<section id="%s"><h2>%s</h2><p class="paper">%s</p>' % (anchor, html.escape(name), inline(about)))

    def end_section(self, verdict):
        self.raw('<p class="verdict">%s</p></section>' % inline(verdict))

    def add(self, *lines):
        for line in lines:
            mark = re.match("#+ ", line)
            if mark:
                level = min(len(mark[0]) + 1, 6)
                self.raw("<h%d>%s</h%d>" % (level, inline(line[len(mark[0]):]), level))
            elif line.startswith("- "):
                self.lines.append(("" if self.is_list else "<ul>") + "<li>" + inline(line[2:]) + "</li>")
                self.is_list = True
            elif line:
                self.raw("<p>%s</p>" % inline(line))

    def paragraph(self, text):
        self.add(" ".join(text.split()))

    def table(self, columns, rows):
        head = "".join("<th>%s</th>" % inline(heading) for heading, _, _ in columns)
        body = "".join("<tr>%s</tr>\n" % "".join("<td>%s</td>" % inline(text(row)) for _, _, text in columns)
                       for row in rows)
        self.raw("<table><tr>%s</tr>\n%s</table>" % (head, body))

    def picture(self, about, name, kind, chart):
        if not self.charts:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.svg")
            getattr(self.charts, kind)(chart, path)
            self.drawing(path)

    def drawing(self, path):
        """An SVG file, as it is."""
        with open(path, encoding="utf-8") as file:
            self.raw(re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", file.read(), flags=re.S))

    def save(self):
        self.end_list()
        body, top = self.lines, '<p>%s</p>' % " &middot; ".join(self.contents)
        self.lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"><title>%s</title><style>%s</style></head>'
                      % (html.escape(self.title), STYLE), "<body><h1>%s</h1>" % html.escape(self.title), top, *body,
                      "</body></html>"]
        super().save()
