"""Where a new user starts: examples, cite. start_test.py PROGRAM SOURCE_FOLDER."""
import json
import re
import shlex
import sys
import unittest

from program import SOURCE, InFolder, run

CONFIGS = SOURCE / "configs"

class Examples(InFolder):
    def test_there_are_some_of_each_kind_each_with_what_it_shows(self):
        rows = json.loads(run("examples", "--json").stdout)
        self.assertTrue(12 <= len(rows) <= 20, len(rows))
        self.assertEqual({row["kind"] for row in rows}, {"scenario", "serving", "sweep"})
        text = run("examples").stdout
        for row in rows:
            self.assertTrue((CONFIGS / row["file"]).is_file(), row)
            self.assertIn(row["description"], (CONFIGS / row["file"]).read_text())
            self.assertGreater(len(row["description"]), 20, row)
            self.assertRegex(text, rf"(?m)^{re.escape(row['command'])} +{re.escape(row['description'])}$")

    def test_every_command_runs_from_any_folder(self):
        for row in json.loads(run("examples", "--json").stdout):
            words = shlex.split(row["command"])
            self.assertEqual(words[0], "tiersim")
            more = ["--dry-run"] if words[1] == "sweep" else []
            result = run(*words[1:], *more, cwd=self.folder)
            self.assertEqual((result.returncode, bool(result.stdout)), (0, True), result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class Cite(unittest.TestCase):
    def facts(self):
        """Top-level `key: value` lines of CITATION.cff, without quotes."""
        text = (SOURCE / "CITATION.cff").read_text()
        return {key: value.strip('"') for key, value in re.findall(r"^([\w-]+): (.+)$", text, re.M)}

    def test_bibtex_and_citation_file_agree(self):
        facts, bibtex = self.facts(), run("cite").stdout
        self.assertTrue(bibtex.startswith("@software{tiersim,\n") and bibtex.endswith("}\n"), bibtex)
        self.assertEqual(bibtex.count("{"), bibtex.count("}"))
        fields = dict(re.findall(r"^  (\w+) *= \{+(.*?)\}+,?$", bibtex, re.M))
        for field in ("title", "version", "license"):
            self.assertEqual(fields[field], facts[field])
        self.assertIn(f'name: "{fields["author"]}"', (SOURCE / "CITATION.cff").read_text())
        self.assertEqual(fields.get("year"), facts["date-released"][:4] if "date-released" in facts else None)

    def test_the_version_is_that_of_the_program_and_of_cmake(self):
        version = self.facts()["version"]
        self.assertEqual(run("--version").stdout, f"tiersim {version}\n")
        self.assertIn(f"project(tiersim VERSION {version} ", (SOURCE / "CMakeLists.txt").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
