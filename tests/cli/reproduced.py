"""`tiersim reproduce all`, once for all tests that read what it leaves: reproduced.py PROGRAM
SOURCE_FOLDER FOLDER. The fixture cli.reproduced calls it, and $TIERSIM_REPRODUCED names the folder:
files/, stdout and stderr. A test that is started by hand makes a folder of its own."""
import atexit
import functools
import json
import os
import pathlib
import shutil
import sys
import tempfile

from program import run


def make(folder):
    """Runs the program; returns its exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = run("reproduce", "all", "-o", folder / "files", timeout=280)
    (folder / "stdout").write_text(result.stdout, encoding="utf-8")
    (folder / "stderr").write_text(result.stderr, encoding="utf-8")
    return result.returncode


@functools.cache
def folder():
    if "TIERSIM_REPRODUCED" in os.environ:
        return pathlib.Path(os.environ["TIERSIM_REPRODUCED"])
    own = tempfile.TemporaryDirectory()
    atexit.register(own.cleanup)
    made = pathlib.Path(own.name) / "reproduced"
    code = make(made)
    assert code == 0, (made / "stderr").read_text(encoding="utf-8")
    return made


def files():
    return folder() / "files"


@functools.cache
def report(paper):
    """What `reproduce PAPER --json` prints: a test of each paper compares the two."""
    return json.loads((files() / paper / "report.json").read_text(encoding="utf-8"))


def printed(paper):
    """The lines of this paper; each paper begins with its title."""
    lines = (folder() / "stdout").read_text(encoding="utf-8").splitlines()
    titles = [report(path.parent.name)["paper"] for path in files().glob("*/report.json")]
    begin = lines.index(report(paper)["paper"])
    end = next((i for i in range(begin + 1, len(lines)) if lines[i] in titles), len(lines))
    return lines[begin:end]


if __name__ == "__main__":
    made = pathlib.Path(sys.argv[3]).resolve()
    status = make(made)
    sys.stderr.write((made / "stderr").read_text(encoding="utf-8"))
    sys.exit(status)
