"""The files of a source tree, and C++ text without comments and literals."""
import pathlib
import re
import subprocess

CXX_HEADERS = (".hpp", ".cuh", ".h")
CXX = (".cpp", ".cu") + CXX_HEADERS
CODE = CXX + (".py", ".sh", ".cmake")
DATA = (".yaml", ".yml", ".json", ".md", ".txt", ".in")
BUILD_FOLDERS = {"build", "out", "__pycache__"}


def source_files(root):
    """Paths relative to root, tracked by git or untracked; without git all but build folders."""
    if (root / ".git").exists():
        try:
            listed = subprocess.run(
                ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                 "--exclude-standard"], capture_output=True, check=True, text=True).stdout
            return sorted(p for p in set(listed.split("\0")) if p and (root / p).is_file())
        except (OSError, subprocess.CalledProcessError):
            pass
    files = []
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if path.is_file() and parts[0] != ".git" and not BUILD_FOLDERS.intersection(parts[:-1]):
            files.append("/".join(parts))
    return sorted(files)


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = source_files(self.root)
        self._text = {}

    def text(self, path):
        if path not in self._text:
            self._text[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._text[path]

    def matching(self, *suffixes, under=""):
        return [p for p in self.files if p.endswith(suffixes) and p.startswith(under)]

    def is_text(self, path):
        name = path.rsplit("/", 1)[-1]
        if name.endswith(CODE + DATA) or "." not in name or name.startswith("."):
            return b"\0" not in (self.root / path).read_bytes()[:4096]
        return False


TOKEN = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|(?:u8|u|U|L)?R"(?P<tag>[^()\\ ]{0,16})\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def blank_comments_and_strings(text):
    """The same text, line for line, with comments and the insides of literals blanked."""
    def blank(match):
        token = match.group(0)
        lines = "\n" * token.count("\n")
        return lines if token.startswith("/") else '""' + lines
    return TOKEN.sub(blank, text)


def blank_preprocessor(text):
    """Directives with their continuation lines blanked, line for line."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), text,
                  flags=re.MULTILINE)
