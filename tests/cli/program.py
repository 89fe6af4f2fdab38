"""Common parts of the program's tests: `<name>_test.py PROGRAM SOURCE_FOLDER` runs it.

A test with @nightly, and what a test does only `if NIGHTLY`, takes long: TIERSIM_NIGHTLY=1 runs it, as
ctest's cli.nightly.<name> does. Every change runs the rest."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SCENARIOS = sorted((SOURCE / "configs/scenarios").rglob("*.yaml"))
MAPLE = SOURCE / "configs/scenarios/maple/llama2_7b_maple.yaml"
NIGHTLY = os.environ.get("TIERSIM_NIGHTLY") == "1"
nightly = unittest.skipUnless(NIGHTLY, "at night: TIERSIM_NIGHTLY=1")


def run(*arguments, timeout=240, **options):
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
