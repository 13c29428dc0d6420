# SPDX-License-Identifier: Apache-2.0
"""Where faults can be planted in C and CUDA text, and what each fault changes.

A place is a dict: a, b (span of the text), new (its replacement; `@` stands for "this fault is on"), line, kind and
change (what the report shows). The text is read without a full grammar: comments, strings and preprocessor lines are
blanked, statements are found by brackets. What does not compile, the driver takes out again.
"""
import re
import subprocess

TOKEN = re.compile(r"[A-Za-z_]\w*|(?:0[xX][\da-fA-F.]+(?:[pP][-+]?\d+)?|\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+)\w*|"
                   r"<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\S")
OPEN, CLOSE = "([{", ")]}"
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
BOUNDARY = ASSIGN | {",", ";", "?", ":", "return"}  # an expression between two of these can be put in parentheses
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXTREME = re.compile(r"(real_|vec_|lanes_|f|)(min|max)(f|)$")
BARRIER = re.compile(r"sync|fence|barrier|wait")
POISON = re.compile(r"[^=]*poison(\[\w+\])? [+-]=|[^=]* [+-]= \w*poison")  # a sum of them is 0 or NaN, whatever its sign
NOT_CODE = re.compile(r"(static|typedef|enum|extern|constexpr|using|goto|template|_Static_assert|static_assert|asm|"
                      r"SHOAL_SHARED\w*|va_end)\b")


def defined_here(compiler):
    """Macros of the compiler for this machine; decide which #if branches nothing here can run."""
    for flags in (["-march=native"], []):
        run = subprocess.run([compiler, *flags, "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True)
        if run.returncode == 0:
            return set(re.findall(r"#define (\w+)", run.stdout))
    return set()


def truth(condition, here):
    """Can the condition of an #if be true, can it be false: on this machine, for some file and flavour."""
    def value(name, unknown):
        if not name.startswith("__") or name == "__cplusplus":
            return unknown
        if name not in here:
            return False
        return unknown if re.match(r"__(AVX|SSE|FMA)", name) else True  # levels below that of the machine are built
    results = []
    for unknown in (True, False):
        text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: f" {value(m[1], unknown)} ", condition)
        text = re.sub(r"\b(?!True\b|False\b)[A-Za-z_]\w*", lambda m: f" {int(value(m[0], unknown))} ", text)
        text = text.replace("&&", " and ").replace("||", " or ").replace("!=", "<>").replace("!", " not ")
        try:
            results.append(bool(eval(text.replace("<>", "!="), {})))
        except (SyntaxError, TypeError, ValueError):
            return True, True
    return any(results), not all(results)


def blank(text, here):
    """The text without comments, and without strings, preprocessor lines and dead branches too; same length."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m[0])
    code = re.sub(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')",
                  lambda m: m[0] if m[1] else spaces(m), text, flags=re.S)
    flat = re.sub(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", lambda m: '"' + " " * (len(m[0]) - 2) + '"', code)
    lines, branches, continued = flat.split("\n"), [], False  # branches: [can be compiled, can what follows be]
    for i, line in enumerate(lines):
        m = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        if m and m[1] in ("if", "ifdef", "ifndef"):
            form = {"if": "{}", "ifdef": "defined({})", "ifndef": "!defined({})"}[m[1]].format(m[2].strip())
            branches.append(list(truth(form, here)))
        elif m and m[1] == "elif" and branches:
            can, cannot = truth(m[2], here)
            branches[-1] = [can and branches[-1][1], cannot and branches[-1][1]]
        elif m and m[1] == "else" and branches:
            branches[-1] = [branches[-1][1], False]
        elif m and m[1] == "endif" and branches:
            branches.pop()
        if m or continued or not all(alive for alive, _ in branches):
            lines[i] = " " * len(line)
        continued = (m or continued) and line.endswith("\\")
    return code, "\n".join(lines)


def matching(flat, at):
    """Position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(flat)):
        depth += (flat[i] in OPEN) - (flat[i] in CLOSE)
        if depth == 0:
            return i
    return len(flat) - 1


def until(flat, at, ends):
    """First of `ends` outside brackets from `at` on; an end may itself be an opening bracket."""
    while at < len(flat) and flat[at] not in ends:
        at = matching(flat, at) + 1 if flat[at] in OPEN else at + 1
    return at


def statements(flat):
    """(what, begin, end) of conditions, headers of loops and statements in function bodies."""
    at, inside = 0, [False]  # inside[-1]: are we in a function body?
    while True:
        at += len(flat[at:]) - len(flat[at:].lstrip())
        if at >= len(flat):
            return
        if flat[at] in "};":
            if flat[at] == "}" and len(inside) > 1:
                inside.pop()
            at += 1
        elif not inside[-1]:
            end = until(flat, at, ";{}")
            head = flat[at:end].rstrip()
            at = end + (flat[end:end + 1] == ";")
            if flat[end:end + 1] == "{":
                at = end + 1
                if re.search(r"\)\s*(const|noexcept|override)?$|\)\s*:\s*\w", head):
                    inside.append(True)
                elif re.search(r"\b(namespace|extern|struct|class|union)\b", head) and not head.endswith("="):
                    inside.append(False)
                else:
                    at = matching(flat, end) + 1
        elif flat[at] == "{":
            inside.append(True)
            at += 1
        else:
            word = re.match(r"\w*", flat[at:at + 40])[0]
            if word in ("if", "while", "switch", "for"):
                begin = flat.index("(", at)
                end = matching(flat, begin)
                if word != "switch" and not flat[at + len(word):begin].strip():
                    yield word, begin + 1, end
                at = end + 1
            elif word in ("else", "do"):
                at += len(word)
            elif word in ("case", "default") or re.match(r"\w+\s*:[^:]", flat[at:at + 60]):
                at = re.compile(r"(?<!:):(?!:)").search(flat, at).end()
            else:
                end = until(flat, at, ";}")
                call = re.match(r"\w+\s*\(", flat[at:end])
                after = matching(flat, at + call.end() - 1) + 1 if call else end
                if flat[after:end].lstrip().startswith("{"):  # a macro that heads a block
                    at = after
                    continue
                yield "statement", at, end
                at = end + 1


class Places:
    """All places of one file."""

    def __init__(self, text, here):
        self.text = text
        self.code, self.flat = blank(text, here)
        self.found = []
        for what, a, b in statements(self.flat):
            if "#" in self.text[a:b] or b <= a:
                continue
            if what == "statement":
                self.statement(a, b)
            elif what == "for":
                first = until(self.flat, a, ";")
                second = until(self.flat, first + 1, ";")
                if second < b:
                    self.tokens(a, first, False)
                    self.bound(first + 1, second)
            else:
                self.condition(what, a, b)

    def add(self, kind, a, b, new, change=None, at=None):
        at = a if at is None else at
        old, flat_new = " ".join(self.code[a:b].split()), " ".join(new.split())
        new += "\n" * (self.text.count("\n", a, b) - new.count("\n"))
        self.found.append(dict(a=a, b=b, new=new, kind=kind, line=self.text.count("\n", 0, at) + 1,
                               change=change or f"{old}  ->  {flat_new}"))

    def one_line(self, a, b):
        return " ".join(self.code[a:b].split())

    def condition(self, word, a, b):
        text, then = self.code[a:b], self.flat[b + 1:].lstrip()
        check = re.match(r"\{?\s*(return|goto|break|continue)\b", then)
        self.add("check" if check else "condition", a, b, f"!@ && ({text})", f"{word} ({self.one_line(a, b)}) is never true")
        if word == "if":
            self.add("condition", a, b, f"@ || ({text})", f"if ({self.one_line(a, b)}) is always true")
            self.add("condition", a, b, f"@ ? !({self.one_line(a, b)}) : ({text})", f"if (!({self.one_line(a, b)}))")
        self.tokens(a, b, False)

    def bound(self, a, b):
        m = re.match(r"([^<>=!?&|]+?(?:<=?|>=?)\s)([^<>=!?&|]+)$", self.flat[a:b].replace("->", ".."))
        if not m:
            self.tokens(a, b, False)
            return
        lo = a + m.end(1)
        for sign in "+-":
            text = self.code[lo:b]
            self.add("bound", lo, b, f"({text}) {sign} @", f"{self.one_line(a, b)} {sign} 1")
        self.tokens(lo, b, False)

    def statement(self, a, b):
        flat, whole = self.flat[a:b], self.code[a:b + 1]  # with its semicolon
        if NOT_CODE.match(flat) or re.match(r"(struct|union|class)\b[^=]*\{", flat):
            return
        declares = re.match(r"(?!return\b)[A-Za-z_][\w:<>, ]*?[\s*&]+[A-Za-z_]\w*\s*([=;,\[({]|$)", flat)
        call = re.match(r"[\w.:]+(?:->[\w.]+)*(?:<[^;()]*>)?\s*\(", flat)
        assign = until(flat, 0, "=")
        plain = not declares and until(flat, 0, ",") >= len(flat) and not flat.startswith("return")
        if call and plain and matching(flat, call.end() - 1) == len(flat.rstrip()) - 1:
            kind = "barrier" if BARRIER.search(call[0]) else "call"
            self.add(kind, a, b + 1, f"{{ if (!@) {whole} }}", f"{self.one_line(a, b)} is dropped")
        elif plain and assign < len(flat):
            self.add("assignment", a, b + 1, f"{{ if (!@) {whole} }}", f"{self.one_line(a, b)} is dropped")
            if flat[assign - 1] in "+-" and not POISON.match(flat):
                other = self.code[a:a + assign - 1] + "-+"["+-".index(flat[assign - 1])] + self.code[a + assign:b]
                self.add("sign", a, b + 1, f"{{ if (@) {' '.join(other.split())}; else {whole} }}", " ".join(other.split()))
        self.tokens(a, b, bool(declares))

    def tokens(self, a, b, declares):
        """Places at single tokens of an expression, list of expressions or declaration."""
        tokens = [(m[0], a + m.start(), a + m.end()) for m in TOKEN.finditer(self.flat[a:b])]
        valued = not declares  # before the `=` of a declaration, brackets hold sizes
        depth = 0
        for i, (word, lo, hi) in enumerate(tokens):
            depth += (word in OPEN) - (word in CLOSE)
            before = tokens[i - 1][0] if i else "("
            valued = valued or word in ASSIGN or (word == "(" and declares)
            if not valued:
                continue
            spaced = self.flat[lo - 1:lo].isspace() and self.flat[hi:hi + 1].isspace()
            binary = spaced and (re.match(r"\w", before) or before in CLOSE)
            if binary and (word in COMPARE or word in "+-"):
                other = COMPARE.get(word) or "-+"["+-".index(word)]
                self.region("comparison" if word in COMPARE else "sign", tokens, i, BOUNDARY | {"&&", "||"}, other)
            elif word in ("&&", "||"):
                self.region("logic", tokens, i, BOUNDARY, "||" if word == "&&" else "&&")
            elif word == "-" and not re.match(r"\w", before) and before not in CLOSE or (word, before) == ("-", "return"):
                self.add("sign", lo, hi, "(@ ? 1 : -1) * ", f"{self.line_of(lo)}: minus dropped")
            elif re.match(r"\.?\d", word):
                after = tokens[i + 1][0] if i + 1 < len(tokens) else ";"
                self.number(word, lo, hi, word == "1" and before in ("=", "return") and after in ",;")
            elif EXTREME.match(word) and self.flat[hi:hi + 1] == "(" and before != "::":
                m, end = EXTREME.match(word), matching(self.flat, hi) + 1
                other = m[1] + ("max" if m[2] == "min" else "min") + m[3] + self.one_line(hi, end)
                self.add("min/max", lo, end, f"(@ ? {other} : {self.code[lo:end]})", f"{self.one_line(lo, end)}  ->  {other}")
            elif word == "[" and (re.match(r"\w", before) or before in CLOSE):
                end = matching(self.flat, lo)
                for sign in "+-" if self.flat[hi:end].strip() else "":
                    self.add("index", hi, end, f"({self.code[hi:end]}) {sign} @",
                             f"{before}[{self.one_line(hi, end)}]  ->  [{self.one_line(hi, end)} {sign} 1]")
            elif word == "?":
                self.region("condition", tokens, i - 1, BOUNDARY, None)

    def line_of(self, at):
        return self.text[self.text.rfind("\n", 0, at) + 1:self.text.find("\n", at)].strip()

    def number(self, word, lo, hi, truth_value):
        whole = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlL]*)", word)
        if whole:
            more = not truth_value and "alloc" not in self.line_of(lo)  # neither is to be seen
            less = int(whole[1], 0 if whole[1][0] != "0" else 16) > 0
            changed = [f"{word} + 1"] * more + [f"{word} - 1"] * less
        else:
            end = "f" if word[-1] in "fF" and not word.startswith(("0x", "0X")) or re.search(r"p.*f$", word) else ""
            zero = not re.search(r"[1-9a-fA-F]", re.sub(r"[eEpP][-+]?\d+|[fF]$|^0[xX]", "", word))
            changed = [f"{word} + 0.01{end}"] if zero else [f"{word} * 2", f"{word} * 1.01{end}", f"-{word}"]
        for new in changed:
            self.add("constant", lo, hi, f"(@ ? {new} : {word})", f"{self.line_of(lo)}: {word} is {new}")

    def is_extreme(self, a, lo, hi, b):
        """Is the comparison that of a minimum or maximum? Then it makes no difference what is taken of two equal ones."""
        plain = [re.sub(r"\s|\(\w+\)", "", self.flat[x:y]) for x, y in ((a, lo), (hi, b))]
        after = re.sub(r"\s|\(\w+\)", "", self.flat[b:b + 200])
        for x, y in (plain, plain[::-1]):
            if after.startswith(f"?{x}:{y}") and not re.match(r"[\w(\[.]|->", after[len(x) + len(y) + 2:]):
                return True
            if after.startswith(f"){x}={y};"):
                return True
            if self.flat[:a].endswith("real_pick(") and after.startswith(f",{x},{y})"):
                return True
        return False

    def region(self, kind, tokens, i, boundary, other):
        """Change token i to `other` (None: negate the expression that ends in it), in the expression around it."""
        left, right, depth = i if other else i + 1, i, 0
        while left > 0:
            word = tokens[left - 1][0]
            depth += (word in CLOSE) - (word in OPEN)
            if depth < 0 or depth == 0 and word in boundary:
                break
            left -= 1
        depth = 0
        while other and right + 1 < len(tokens):
            word = tokens[right + 1][0]
            depth += (word in OPEN) - (word in CLOSE)
            if depth < 0 or depth == 0 and word in boundary:
                break
            right += 1
        a, b, (_, lo, hi) = tokens[left][1], tokens[right][2], tokens[i]
        if kind == "comparison" and tokens[i][0] not in ("==", "!=") and self.is_extreme(a, lo, hi, b):
            return
        if other:
            changed = " ".join((self.code[a:lo] + other + self.code[hi:b]).split())
        else:
            changed = f"!({self.one_line(a, b)})"
        self.add(kind, a, b, f"(@ ? ({changed}) : ({self.code[a:b]}))", f"{self.one_line(a, b)}  ->  {changed}", at=lo)
