#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py - generates our documents from kept results: Markdown, with pictures in img/ beside it.

    pages.py all bench/results docs             every page of DOCUMENTS, and pictures (`make docs`)
    pages.py study out/study.json out/study.md  one page

Needs numpy and matplotlib.
"""

import argparse
import os
import sys

import beside
import figures
import overview
import performance
import studies
import tables
from results import Page, Refused

PAGES = {  # kind of page: writer
    "performance": performance.write_page,
    "smallsym-figures": figures.write_smallsym,
    "recur-figures": figures.write_recur,
    "tridiag-figures": figures.write_tridiag,
    "study": studies.write_study,
}
DOCUMENTS = {  # file in docs/: source in bench/results, kind of page
    "performance.md": ("", "performance"),
    "smallsym-figures.md": ("paper", "smallsym-figures"),
    "recur-figures.md": ("paper", "recur-figures"),
    "tridiag-figures.md": ("paper", "tridiag-figures"),
    "smallsym-study.md": ("paper/study.json", "study"),
    "symindef-study.md": ("paper/symindef-study.json", "study"),
}


def write(kind, source, path, with_pictures=True):
    """The page at `path`. Refused: the source is damaged, and there is no page."""
    charts = None
    if with_pictures:
        import charts  # loads matplotlib, which takes a second
    page = Page(path, charts)
    PAGES[kind](page, source)
    page.save()


def main():
    parser = argparse.ArgumentParser(description="Generate documents from kept results.")
    parser.add_argument("page", choices=["all", *PAGES], help="the kind of page; all: every page of docs/")
    parser.add_argument("source", help="folder of `shoal bench --save`; study: FILE.json of `shoal study`; all: bench/results")
    parser.add_argument("target", help="FILE.md; all: the folder docs")
    parser.add_argument("--no-pictures", action="store_true", help="write the pages only")
    asked = parser.parse_args()
    pages = [(asked.page, asked.source, asked.target)] if asked.page != "all" else [
        (kind, os.path.join(asked.source, source), os.path.join(asked.target, name))
        for name, (source, kind) in DOCUMENTS.items()]
    try:
        for kind, source, path in pages:
            write(kind, source, path, not asked.no_pictures)
            print("page: " + path)
        if asked.page == "all" and not asked.no_pictures:
            tables.write_pictures(asked.source, os.path.join(asked.target, "img"))
            overview.write_picture(asked.source, os.path.join(asked.target, "img"))
            beside.write(asked.source, asked.target)
    except (Refused, OSError) as error:
        print("pages.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
