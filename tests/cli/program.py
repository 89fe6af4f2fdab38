"""Common parts of the program's tests: `<name>_test.py PROGRAM SOURCE_FOLDER` runs it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SCENARIOS = sorted((SOURCE / "configs/scenarios").rglob("*.yaml"))
MAPLE = SOURCE / "configs/scenarios/maple/llama2_7b_maple.yaml"


def run(*arguments, timeout=60, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, **options)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def expect_failure(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        for text in texts:
            self.assertIn(text, result.stderr)
