#!/usr/bin/env python3
"""Checks a source tree against the agreements in rules.py: check.py ROOT [RULE...].

Prints `file:line: rule: what is wrong (what to do)` and exits 1 where there is something.
"""
import fnmatch
import posixpath
import re
import sys

import functions
import rules
from tree import CODE, CXX, CXX_HEADERS, Tree, blank_comments_and_strings

RULES = {}


def rule(function):
    RULES[function.__name__] = function
    return function


def fits(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def module_of(path):
    """The row of the table of layers that a path belongs to."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "sim" else parts[0]


def includes(tree, path):
    """(line, quoted or angled, name) of every #include."""
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


@rule
def layers(tree):
    for path in tree.matching(*CXX):
        module = module_of(path)
        if module not in rules.LAYERS:
            yield path, 1, f"{module} has no row in the table of layers (tests/arch/rules.py)"
            continue
        for line, quote, name in includes(tree, path):
            target = module_of(name)
            if quote == "<":
                continue
            if target not in rules.LAYERS:
                yield path, line, f'"{name}" is not a path from the root of the repository'
            elif target != module:
                allowed = rules.LAYERS[module]
                if target not in allowed and not fits(name, allowed):
                    yield path, line, f"{module} must not include {name}; it may include " + (
                        ", ".join(allowed) or "nothing but itself")


@rule
def third_party(tree):
    for path in tree.matching(*CXX):
        for line, _, name in includes(tree, path):
            for prefix, places in rules.THIRD_PARTY_PLACES.items():
                if name.startswith(prefix) and not fits(path, places):
                    yield path, line, f"{name} may stand only in {', '.join(places)}"


@rule
def clean_headers(tree):
    for path in tree.matching(*CXX_HEADERS):
        allowed = [p for folder, prefixes in rules.HEADER_THIRD_PARTY.items()
                   if path.startswith(folder) for p in prefixes]
        for line, quote, name in includes(tree, path):
            standard = re.fullmatch(r"[a-z0-9_]+", name)
            if quote == "<" and not standard and not name.startswith(
                    rules.COMPILER_HEADERS + tuple(allowed)):
                yield path, line, f"<{name}> in a header: only the standard library may stand here"


@rule
def library_calls(tree):
    calls = re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w.>])(?:std::)?"
                       r"(exit|_exit|quick_exit|abort|assert|printf|puts)\s*\(")
    for path in tree.matching(*CXX):
        if fits(path, rules.MAY_EXIT_OR_PRINT):
            continue
        code = blank_comments_and_strings(tree.text(path))
        for number, line in enumerate(code.splitlines(), 1):
            if match := calls.search(line):
                yield path, number, (f"{match.group(1) or match.group(2)} in a library "
                                     "(Diagnostics for users, TS_ checks for us)")


@rule
def file_length(tree):
    for path in tree.matching(*CODE) + ["tiersim"] * ("tiersim" in tree.files):
        lines = tree.text(path).count("\n")
        if lines > rules.MAX_FILE_LINES:
            yield path, 1, f"{lines} lines, more than {rules.MAX_FILE_LINES}: split it"


@rule
def function_length(tree):
    for path in tree.matching(*CXX, ".py"):
        text = tree.text(path)
        finder = functions.python_functions if path.endswith(".py") else functions.cxx_functions
        for line, length in finder(text):
            if length > rules.MAX_FUNCTION_LINES:
                yield path, line, (f"a function of {length} lines, more than "
                                   f"{rules.MAX_FUNCTION_LINES}: split it")


@rule
def type_names(tree):
    """A linker takes two types of one name for one, and puts members of either in place of the other's."""
    seen = {}
    for path in sorted(tree.matching(*CXX_HEADERS)):
        if path.startswith(("kernels/", "tests/")):
            continue
        spaces = []
        for line, text in enumerate(blank_comments_and_strings(tree.text(path)).splitlines(), 1):
            if match := re.match(r"namespace ([\w:]+)? ?\{", text):
                spaces.append(match.group(1) or f"of {path}")
            elif text.startswith("}") and spaces and not text.startswith("};"):
                spaces.pop()
            elif match := re.match(r"(?:class|struct|enum class|union) (\w+)(?: final)?(?: :.*)? ?(?:\{|$)", text):
                name = "::".join([*spaces, match.group(1)])
                if other := seen.get(name):
                    yield path, line, f"{name} is the name of a type in {other} as well: rename one"
                seen[name] = path


@rule
def readmes(tree):
    for folder in rules.TOP_FOLDERS:
        path = f"{folder}/README.md"
        if path not in tree.files:
            yield path, 1, "missing: what lives here, the types to know, how to add one more"
        elif (lines := tree.text(path).count("\n")) > rules.MAX_README_LINES:
            yield path, 1, f"{lines} lines: a page is {rules.MAX_README_LINES}"


@rule
def top_level(tree):
    folders = {p.split("/")[0] for p in tree.files if "/" in p and not p.startswith(".")}
    for extra in sorted(folders - set(rules.TOP_FOLDERS)):
        yield extra, 1, "a top-level folder beyond the agreed seven"
    for missing in sorted(set(rules.TOP_FOLDERS) - folders):
        yield missing, 1, "one of the seven top-level folders is missing"
    for path in tree.files:
        if "/" not in path and not fits(path, rules.ROOT_FILES):
            yield path, 1, "not one of the files agreed for the root: " + " ".join(rules.ROOT_FILES)


# Spelled in parts, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile(r"(?:^|[^A-Za-z0-9_./-])/(?:wo" r"rk|fa" r"rm)/|/tm" r"p/[a-z]+_jobs")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")


def grep(tree, pattern, paths, message):
    for path in paths:
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if pattern.search(line):
                yield path, number, message


@rule
def machine_paths(tree):
    return grep(tree, MACHINE_PATH, filter(tree.is_text, tree.files),
                "a path of one machine")


@rule
def unfinished(tree):
    paths = tree.matching(*CODE, ".yaml", ".yml", "CMakeLists.txt")
    return grep(tree, UNFINISHED, paths, "an unfinished mark without an issue: (#123) after it")


# A label of at most nine letters, then text from column 16 on, where all other lines start.
CARD_LINE = re.compile(r"//   (?=\w+(?: \w+)? )[^.]{9} \S|// {13,}\S")


@rule
def cards(tree):
    for folder in rules.CARD_FOLDERS:
        for path in tree.matching(".hpp", under=folder):
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                if line.startswith("//   ") and not CARD_LINE.match(line):
                    yield path, number, ("not a line of a card: a label and text from column 16 on "
                                         "(wrap by hand what the formatter broke)")


def names_file(cmake, name):
    """Does the text of a CMakeLists.txt name this file, or its stem in a loop over `${x}.cpp`?"""
    def has(word):
        return re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w-])", cmake)

    if has("GLOB sources") or re.search(r"^tiersim_test\(\w+\s+(?!SOURCES)DEPS", cmake, re.M):
        if re.fullmatch(r"\w+(?<!_nightly)_test\.cpp", name):
            return True

    cmake = cmake.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
    stem, dot, ending = name.rpartition(".")
    return has(name) or (re.search(r"\$\{\w+\}" + re.escape(dot + ending), cmake) and has(stem))


@rule
def listed_tests(tree):
    lists = tree.matching("CMakeLists.txt", under="tests/")
    for path in tree.matching(".cpp", ".cu", "_test.py", "_test.sh", under="tests/"):
        folders = [(cmake, cmake[:-len("CMakeLists.txt")]) for cmake in lists]
        if not any(path.startswith(folder) and names_file(tree.text(cmake), path[len(folder):])
                   for cmake, folder in folders):
            yield path, 1, "named by no CMakeLists.txt: this test never runs"


def block_siblings(lines, at):
    """Keys of the block mapping that holds lines[at], a line `value: ...`."""
    def column(line):
        return len(line) - len(re.sub(r"^[ ]*(?:- +)*", "", line))

    here, keys = column(lines[at]), set()
    for step in (1, -1):
        i = at
        while 0 <= i < len(lines):
            line = lines[i]
            if line.strip() and not line.lstrip().startswith("#"):
                starts_item = re.match(r" *- ", line) and column(line) <= here
                if column(line) < here or (step == 1 and starts_item and i != at):
                    break
                if column(line) == here and (key := re.match(r"[ ]*(?:- +)*(\w+)\s*:", line)):
                    keys.add(key.group(1))
                if step == -1 and starts_item:
                    break
            i += step
    return keys


@rule
def sourced_numbers(tree):
    for path in tree.matching(".yaml", ".yml", under="configs/"):
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', tree.text(path))
        text = re.sub(r"(^|\s)#[^\n]*", r"\1", text)
        lines = text.splitlines()
        found = [(i + 1, block_siblings(lines, i)) for i, line in enumerate(lines)
                 if re.match(r" *(?:- +)*value\s*:", line)]
        for flow in re.finditer(r"\{([^{}]*\bvalue\s*:[^{}]*)\}", text):
            found.append((text.count("\n", 0, flow.start()) + 1,
                          set(re.findall(r"(?:^|[,\s])(\w+)\s*:", flow.group(1)))))
        for line, keys in found:
            if missing := {"class", "source"} - keys:
                yield path, line, f"value without {' and '.join(sorted(missing))} beside it"


@rule
def editor_lines(tree):
    """By this comment an editor knows the schema, so it completes keys and marks mistakes."""
    for path in [p for folder in rules.EDITED_YAML for p in tree.matching(".yaml", under=folder)]:
        text = tree.text(path)
        kind = re.search(r"^schema: tiersim\.(\w+)/v1", text, re.M)
        if not kind or text.startswith("# Written by `tiersim "):  # nobody edits those
            continue
        schema = rules.SCHEMAS.format(kind=kind.group(1))
        first = text.splitlines()[0]
        line = "# yaml-language-server: $schema=" + posixpath.relpath(schema, posixpath.dirname(path))
        if schema in tree.files and first != line:
            yield path, 1, f"the first line is not `{line}`"
        elif schema not in tree.files and "yaml-language-server" in first:
            yield path, 1, f"files of kind '{kind.group(1)}' have no schema: remove this line"


@rule
def changelog(tree):
    """Each entry says what it does to numbers; a version that changes some says which."""
    path = "CHANGELOG.md"
    lines = tree.text(path).splitlines() if path in tree.files else []
    starts = [n for n, line in enumerate(lines) if line.startswith("## ")]
    labels = re.compile(rf"- ({'|'.join(rules.CHANGE_LABELS)}): \S")
    for n, line in enumerate(lines):
        if line.startswith("- ") and not labels.match(line):
            yield path, n + 1, f"an entry begins with one of {', '.join(rules.CHANGE_LABELS)} and a colon"
        elif line.startswith("- ") and (not starts or n < starts[0]):
            yield path, n + 1, "an entry stands above every version"
    for begin, end in zip(starts, starts[1:] + [len(lines)]):
        if not re.fullmatch(r"## (Unreleased|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\))", lines[begin]):
            yield path, begin + 1, "a version is `## Unreleased` or `## 1.2.3 (2030-12-31)`"
        changed = any(line.startswith("- NUMBERS-CHANGED") for line in lines[begin:end])
        if changed and rules.CHANGED_NUMBERS_TABLE not in lines[begin:end]:
            yield path, begin + 1, f"numbers change, and there is no table `{rules.CHANGED_NUMBERS_TABLE}`"


def check(root, names=()):
    """All findings of the rules named (default: of every rule), as printable lines."""
    tree = Tree(root)
    return [f"{path}:{line}: {name}: {message}"
            for name in (names or RULES) for path, line, message in RULES[name](tree)]


def main(arguments):
    unknown = [name for name in arguments[1:] if name not in RULES]
    if not arguments or unknown:
        print(f"usage: check.py ROOT [RULE...]; rules: {' '.join(RULES)}", file=sys.stderr)
        return 2
    findings = check(arguments[0], arguments[1:])
    print("\n".join(findings) or f"{len(arguments[1:] or RULES)} rules hold")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
