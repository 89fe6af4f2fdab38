"""The first line and length of each function of a source, found by its braces."""
import ast
import re

from tree import blank_comments_and_strings, blank_preprocessor

SCOPE = re.compile(r"(?:inline\s+)?namespace\b|extern\s*\"\""
                   r"|(?:(?:typedef|static|inline)\s+)?(?:class|struct|union)\b")
LEAD = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*")


def strip_template_heads(head):
    """`template <...>` prefixes removed, their brackets balanced."""
    while match := re.match(r"\s*template\s*<", head):
        depth, i = 1, match.end()
        while i < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[i], 0)
            i += 1
        head = head[i:]
    return head


def kind_of(head):
    """The kind of the brace after this text: "scope", "function" or "other"."""
    head = re.sub(r"\[\[.*?\]\]", "", head, flags=re.DOTALL)
    head = strip_template_heads(head[LEAD.match(head).end():])
    if re.match(r"\s*enum\b", head):
        return "other"
    if SCOPE.match(head.lstrip()) and not head.rstrip().endswith(")"):
        return "scope"
    flat = re.sub(r"operator\s*[^\s\w(]+", "operator", head)
    while re.search(r"\([^()]*\)", flat):
        flat = re.sub(r"\([^()]*\)", "@", flat)
    if "@" not in flat or re.search(r"(?<![=<>!])=(?!=)", flat.split("@", 1)[0]):
        return "other"
    return "function"


def cxx_functions(text):
    """(first line, lines) of every function defined in a namespace or class."""
    text = blank_preprocessor(blank_comments_and_strings(text))
    found, stack = [], []  # stack of (kind, position of the head)
    head_start, parens = 0, 0
    for match in re.finditer(r"[(){};]", text):
        at, mark = match.start(), match.group(0)
        in_scope = all(kind == "scope" for kind, _ in stack)
        if mark in "()":
            parens = max(0, parens + (1 if mark == "(" else -1)) if in_scope else parens
        elif mark == "{":
            kind = kind_of(text[head_start:at]) if in_scope and not parens else "other"
            stack.append((kind, head_start))
            if kind == "scope":
                head_start = at + 1
        elif mark == "}" and stack:
            kind, start = stack.pop()
            # Braces among arguments or member initialisers: the head of the function goes on.
            head_goes_on = kind != "scope" and (
                parens or text[at + 1:at + 200].lstrip()[:1] in (",", "{"))
            if any(k != "scope" for k, _ in stack) or head_goes_on:
                continue
            if kind == "function":
                first = text.count("\n", 0, start + LEAD.match(text[start:]).end()) + 1
                found.append((first, text.count("\n", 0, at) + 2 - first))
            head_start = at + 1
        elif mark == ";" and in_scope and not parens:
            head_start = at + 1
    return found


def python_functions(text):
    return [(node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
