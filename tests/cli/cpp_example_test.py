"""The C++ example against the program: cpp_example_test.py PROGRAM SOURCE_FOLDER EXAMPLE."""
import json
import subprocess
import sys
import unittest

from program import MAPLE, SOURCE, run

EXAMPLE = sys.argv[3]


def example(*settings):
    return subprocess.run([EXAMPLE, SOURCE / "configs", MAPLE, *settings], capture_output=True,
                          text=True, timeout=60)


class CppExample(unittest.TestCase):
    def test_it_prints_the_metric_of_the_record(self):
        for setting in ("step.batch=8", "step.context=4096"):
            record = json.loads(run("run", MAPLE, "--set", setting, "--json").stdout)
            expected = record["results"]["metrics"]["step_time_s"]["value"]
            result = example(setting)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(float(result.stdout), expected)

    def test_it_prints_mistakes_and_what_does_not_fit(self):
        for setting, text in (("step.contxt=1", "did you mean 'context'?"), ("step.batch=100000", "largest batch")):
            result = example(setting)
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertIn(text, result.stderr)

    def test_it_is_as_short_as_it_says(self):
        source = (SOURCE / "tests/cli/step_time_example.cpp").read_text()
        body = source.split("int main")[1].split("{", 1)[1].rsplit("}", 1)[0]
        self.assertLessEqual(body.count(";"), 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
