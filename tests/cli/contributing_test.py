"""The changes that CONTRIBUTING.md shows apply to this tree and do what it says:
contributing_test.py PROGRAM SOURCE_FOLDER CXX_COMPILER."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE, COMPILER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
TEXT = (SOURCE / "CONTRIBUTING.md").read_text(encoding="utf-8")
DIFFS = re.findall(r"```diff\n(.*?)```", TEXT, re.S)


def apply(diff, root):
    """Applies a unified diff below root; returns the files that it made or changed."""
    files = re.split(r"^(?=new file mode|--- a/)", re.sub(r"new file mode \d+\n", "", diff), flags=re.M)
    touched = []
    for part in re.split(r"^(?=--- )", "".join(files), flags=re.M):
        if not part.strip():
            continue
        path = re.search(r"^\+\+\+ b/(.*)$", part, re.M).group(1)
        target = root / path
        text = target.read_text(encoding="utf-8") if target.exists() else ""
        for hunk in re.split(r"^@@.*\n", part, flags=re.M)[1:]:
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] in " -")
            after = "".join(line[1:] for line in lines if line[0] in " +")
            if text.count(before) != 1 and before:
                raise AssertionError(f"{path}: the context of a hunk stands there {text.count(before)} times")
            text = text.replace(before, after, 1) if before else after
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        touched.append(target)
    return touched


class Changes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in ("configs", "workloads"):
            shutil.copytree(SOURCE / name, self.root / name)
        self.assertEqual(len(DIFFS), 2)

    def test_an_expander_is_a_yaml_file_alone(self):
        files = apply(DIFFS[0], self.root)
        self.assertEqual([file.suffix for file in files], [".yaml"])
        command = re.search(r"\./tiersim (run .*?)\n```", TEXT, re.S).group(1).replace("\\\n", " ").split()
        result = subprocess.run([PROGRAM, *command], cwd=self.root, capture_output=True, text=True,
                                timeout=60, env={**os.environ, "TIERSIM_CONFIGS": str(self.root / "configs")})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("bounded by", result.stdout)

    def test_a_method_is_a_file_pair_a_word_and_a_scenario(self):
        files = apply(DIFFS[1], self.root)
        names = sorted(str(file.relative_to(self.root)) for file in files)
        self.assertEqual(names, ["configs/scenarios/methods/llama3_8b_newest.yaml",
                                 "workloads/attention/CMakeLists.txt", "workloads/attention/newest.cpp",
                                 "workloads/attention/newest.hpp"])
        result = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                                 f"-I{self.root}", f"-I{SOURCE}", str(self.root / "workloads/attention/newest.cpp")],
                                capture_output=True, text=True, timeout=110)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
