"""Every command that README.md, TUTORIAL.md and the documents of results show runs and prints the
lines that they quote: tutorial_test.py PROGRAM SOURCE_FOLDER.

The commands of a document run in its order in one folder, which all documents share, so a command that
reads no file of a document runs once. What `reproduce` prints and writes is that of reproduced.py. Blocks
of commands with one of AT_NIGHT, and what is quoted of them, wait for TIERSIM_NIGHTLY=1.
A ```yaml block is saved under the last `NAME.yaml` before it. A ```text block quotes the output of
the ```sh block before it. `# exit status N` after a command is what it ends with, else 0. A picture
of reports/assets is, byte for byte, the file of its name that the commands before it wrote.

TIERSIM_UPDATE_DOCUMENTS=1 runs all blocks, writes the nearest printed line over each quoted one that is
not printed, and copies pictures. The sentences around them are for people to update: a number with a
decimal point in a paragraph that begins "Look at" is one that the commands of its step print or that a
quoted line before it has."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import reproduced
from program import NIGHTLY, PROGRAM, SOURCE

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
SENTENCES = re.compile(r"^Look at .*?(?=\n\n|\n#|\n```|\Z)", re.M | re.S)
PICTURE = re.compile(r"!\[[^\]]*\]\((reports/assets/[\w.]+)\)")
NUMBER = r"(?<![\w.])\d+\.\d+(?![\w.]*\w)"
UPDATE = "TIERSIM_UPDATE_DOCUMENTS" in os.environ
# Builds the project and runs the tests, of which this is one.
SKIPPED = "./tiersim test"
# Half of the time of all commands.
AT_NIGHT = re.compile(r"^\./tiersim (validate serving$|solve .* --seeds|run configs/serving/agents_.* --set )", re.M)


def commands_of(block):
    """(command, exit status) of each line of a ```sh block."""
    for line in block.replace("\\\n", " ").splitlines():
        status = re.search(r"#.*\bexit status (\d+)", line)
        command = re.sub(r"\s+#\s.*$", "", line).strip()
        if command and not command.startswith("#"):
            yield command, int(status.group(1)) if status else 0


def parts_of(text):
    """What a document asks for, in its order: ("sh", block), ("text", block), ("yaml", (name, block)),
    ("picture", path), ("sentences", paragraph)."""
    found = [(match.start(), match.group(1), match.group(2)) for match in FENCE.finditer(text)]
    found += [(match.start(), "picture", match.group(1)) for match in PICTURE.finditer(text)]
    found += [(match.start(), "sentences", match.group()) for match in SENTENCES.finditer(text)]
    for start, kind, value in sorted(found):
        if kind == "yaml":
            value = (re.findall(r"`(\w+\.yaml)`", text[:start])[-1], value)
        if kind in ("sh", "text", "yaml", "picture", "sentences"):
            yield kind, value


def nearest(line, printed):
    """The printed line with the same first word and the most similar words; of several, the most
    similar in all; or None."""
    def words(text):
        return re.sub(r"[\d.]+|\s+", " ", text)
    def likeness(other):
        return (line.split()[:1] == other.split()[:1],
                difflib.SequenceMatcher(None, words(line), words(other)).ratio(),
                difflib.SequenceMatcher(None, line, other).ratio())
    return max(printed, key=likeness, default=None)


class Document(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        for name in ("configs", "reports", "sim"):
            (cls.folder / name).symlink_to(SOURCE / name)
        (cls.folder / "tiersim").symlink_to(PROGRAM)
        cls.environment = {**os.environ, "TIERSIM_CONFIGS": str(SOURCE / "configs")}
        (cls.folder / "out/reproduce").mkdir(parents=True)
        cls.ran = {}
        cls.own_files = set()
        for paper in ("maple", "tpla", "early-exit", "sparse-offload"):
            (cls.folder / "out/reproduce" / paper).symlink_to(reproduced.files() / paper)
            cls.ran[f"./tiersim reproduce {paper}", 0] = reproduced.printed(paper)

    def setUp(self):
        self.counts = {"sh": 0, "text": 0, "picture": 0}

    def run_command(self, command, status):
        self.counts["sh"] += 1
        if (command, status) in self.ran:
            return self.ran[command, status]
        lines = self.run_now(command, status)
        if not any(name in command for name in self.own_files):
            self.ran[command, status] = lines
        return lines

    def run_now(self, command, status):
        result = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, timeout=500,
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, status, f"{command}\n{result.stderr}")
        return (result.stdout + result.stderr).splitlines()

    def check(self, name):
        printed, quoted, waits = [], "", False
        for kind, value in parts_of((SOURCE / name).read_text(encoding="utf-8")):
            if kind == "yaml":
                self.own_files.add(value[0])
                (self.folder / value[0]).write_text(value[1], encoding="utf-8")
            elif kind == "sh":
                waits = bool(AT_NIGHT.search(value)) and not (NIGHTLY or UPDATE)
                if waits:
                    self.counts["sh"] += len(list(commands_of(value)))
                    continue
                printed = [line.rstrip() for command, status in commands_of(value)
                           if command != SKIPPED for line in self.run_command(command, status)]
            elif waits:
                self.counts[kind] = self.counts.get(kind, 0) + len(list(filter(None, value.splitlines())))
            elif kind == "text":
                quoted += value
                for line in filter(None, value.splitlines()):
                    with self.subTest(document=name, line=line):
                        self.check_line(name, line, printed)
            elif kind == "sentences":
                seen = set(re.findall(NUMBER, quoted + "\n".join(printed)))
                for number in re.findall(NUMBER, value):
                    with self.subTest(document=name, number=number):
                        self.assertIn(number, seen, f"no command before it prints this: {value}")
            else:
                with self.subTest(document=name, picture=value):
                    self.check_picture(value)

    def check_line(self, name, line, printed):
        self.counts["text"] += 1
        if line in printed:
            return
        near = nearest(line, printed)
        if UPDATE and near:
            path = SOURCE / name
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(f"\n{line}\n", f"\n{near}\n"), encoding="utf-8")
        self.assertTrue(UPDATE and near, f"it is not printed; nearest: {near}")

    def check_picture(self, value):
        made = self.folder / os.path.basename(value)
        if UPDATE:
            shutil.copyfile(made, SOURCE / value)
        self.assertEqual(made.read_bytes(), (SOURCE / value).read_bytes(),
                         f"another picture than {value} comes out: copy it there")
        self.counts["picture"] += 1

    def test_readme(self):
        self.check("README.md")
        self.assertGreaterEqual(self.counts["sh"], 6)
        self.assertGreaterEqual(self.counts["text"], 10)
        self.assertEqual(self.counts["picture"], 2)

    def test_tutorial(self):
        self.check("TUTORIAL.md")
        self.assertGreaterEqual(self.counts["sh"], 40)
        self.assertGreaterEqual(self.counts["text"], 45)
        self.assertGreaterEqual(self.counts["picture"], 9)


    def test_papers(self):
        self.check("reports/papers/README.md")
        self.assertGreaterEqual(self.counts["sh"], 3)
        self.assertGreaterEqual(self.counts["text"], 14)

    def test_validation(self):
        self.check("sim/validate/README.md")
        self.assertGreaterEqual(self.counts["text"], 6)

    def test_calibration(self):
        self.check("hwmodels/calibrate/README.md")
        self.assertGreaterEqual(self.counts["text"], 5)


class Shape(unittest.TestCase):
    """Seven steps for each reader, and each has a command, lines of its output and what to look at."""

    def test_seven_steps_for_three_readers(self):
        text = (SOURCE / "TUTORIAL.md").read_text(encoding="utf-8")
        chapters = re.split(r"^## ", text, flags=re.M)[1:]
        readers = [chapter for chapter in chapters if chapter.startswith("The ")]
        self.assertEqual(len(readers), 3)
        for reader in readers:
            steps = re.split(r"^### ", reader, flags=re.M)[1:]
            self.assertEqual([step[:2] for step in steps], [f"{i}." for i in range(1, 8)])
            for step in steps:
                self.assertIn("```sh\n", step)
                self.assertIn("```text\n", step)
                self.assertRegex(step, r"(?m)^Look at ")

    def test_readme_fits_and_its_links_are_there(self):
        text = (SOURCE / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(text.count("\n"), 130)
        for name in ("README.md", "TUTORIAL.md"):
            for link in re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", (SOURCE / name).read_text(encoding="utf-8")):
                self.assertTrue((SOURCE / link).exists(), f"{name}: {link}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
