# SPDX-License-Identifier: Apache-2.0
"""The Python reference as Markdown: the public names of python/shoal and their docstrings, read without an import."""

import ast
import os
import re
import textwrap

MODULES = {"shoal": "__init__.py", "shoal.price": "price.py", "shoal.calibrate": "calibrate.py"}


def prose(text):
    """A docstring as Markdown: examples are code, and nothing else has a meaning of its own outside `code`."""
    parts = []
    for part in re.split(r"\n\s*\n", text):
        if part.lstrip().startswith(">>>"):
            parts.append("```pycon\n%s\n```" % textwrap.dedent(part))
        else:
            parts.append(re.sub(r"`[^`]*`|[*_<]", lambda found: found[0] if len(found[0]) > 1 else "\\" + found[0], part))
    return "\n\n".join(parts)


def signature(node):
    """Names and defaults, without types."""
    node = ast.parse(ast.unparse(node)).body[0]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.args.posonlyargs = [one for one in node.args.posonlyargs if one.arg != "self"]
    node.args.args = [one for one in node.args.args if one.arg != "self"]
    return ast.unparse(node.args)


def definitions(folder):
    """{name: node} of every function and class of the package."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for node in ast.parse(file.read()).body:
                    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                        found[name, node.name] = found["", node.name] = node
    return found


def public(folder, name):
    """__all__ of a file."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for node in ast.parse(file.read()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return ast.literal_eval(node.value)
    return []


def entry(level, name, node):
    is_class = isinstance(node, ast.ClassDef)
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)] if is_class else []
    begin = next((one for one in methods if one.name == "__init__"), None) if is_class else node
    call = "%s(%s)" % (name, signature(begin)) if begin else name
    lines = ["%s `%s`" % ("#" * level, name), "```python\n%s\n```" % call, prose(ast.get_docstring(node) or "")]
    for method in methods:
        if not method.name.startswith("_") and ast.get_docstring(method):
            is_property = any(getattr(one, "id", "") == "property" for one in method.decorator_list)
            call = method.name if is_property else "%s(%s)" % (method.name, signature(method))
            lines += ["**`.%s`**" % call, prose(ast.get_docstring(method))]
    return lines


def markdown(folder):
    found, lines = definitions(folder), ["## Every name, from its docstring"]
    for module, file in MODULES.items():
        for name in public(folder, file):
            node = found.get((file, name)) or found.get(("", name))
            if node:
                lines += entry(3, "%s.%s" % (module, name), node)
    return "\n\n".join(lines) + "\n"
