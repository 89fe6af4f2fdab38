"""`tiersim validate sensitivity`: validate_sensitivity_test.py PROGRAM SOURCE_FOLDER."""
import json
import unittest

from program import SOURCE, InFolder, run

SHIPPED = SOURCE / "hwmodels/SENSITIVITY.md"
CASES = SOURCE / "reports/targets/sensitivity/h100_node.yaml"
MOVES = 0.01


class ValidateSensitivity(InFolder):
    def test_every_number_has_a_verdict_that_follows_from_its_steps(self):
        result = run("validate", "sensitivity", "--only", "direct-nvlink4", "--only",
                     "sm-loads-gen5-x16", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        cases = document["cases"]
        self.assertEqual({case["device"] for case in cases},
                         {"direct-nvlink4", "sm-loads-gen5-x16"})
        for case in cases:
            steps = [step for step in (case["more"], case["less"]) if "refused" not in step]
            most = max((abs(step["moved"] or 0) for step in steps), default=0)
            expected = ("not changed" if not steps else
                        "fails" if any(step["fails"] for step in steps) else
                        "moves" if most >= MOVES else "insensitive")
            self.assertEqual(case["status"], expected, case)
        self.assertEqual(sum(document["summary"].values()), len(cases))

    def test_start_ups_are_caught_by_small_sizes_and_the_rate_by_large_ones(self):
        result = run("validate", "sensitivity", "--only", "direct-nvlink4", "--json")
        named = {case["parameter"]: case["case"] for case in json.loads(result.stdout)["cases"]}
        self.assertEqual(named["one_shot"], "allreduce-direct.2KiB")
        self.assertEqual(named["rate"], "allreduce-direct.1MiB")

    def test_two_runs_and_any_number_of_threads_say_the_same(self):
        def text(jobs):
            return run("validate", "sensitivity", "--only", "direct-nvlink4", "-j", jobs).stdout
        self.assertEqual(text("1"), text("3"))

    def test_files_are_written_where_they_are_asked_for(self):
        result = run("validate", "sensitivity", "--only", "sm-loads-gen5-x16", "-o", "out",
                     "--json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "out/sensitivity.json").read_text(), result.stdout)
        self.assertIn("SM loads", (self.folder / "out/sensitivity.md").read_text())

    def test_the_shipped_document_says_how_it_was_made_and_fits_a_page(self):
        lines = SHIPPED.read_text().splitlines()
        self.assertIn("./tiersim validate sensitivity", "\n".join(lines[:4]))
        self.assertLessEqual(max(map(len, lines)), 120)
        for line in CASES.read_text().splitlines():
            if line.startswith("  - name: "):
                self.assertTrue(any(line[10:] in heading for heading in lines
                                    if heading.startswith("### ")), line)

    def test_what_nothing_catches_has_a_reason(self):
        notes = SHIPPED.read_text().replace("\n  ", " ").splitlines()
        notes = [note for note in notes if note.startswith("- nothing catches ")]
        self.assertGreater(len(notes), 20)
        for note in notes:
            self.assertIn("%): ", note)

    def test_an_unknown_device_is_told_with_those_there_are(self):
        self.expect_failure(run("validate", "sensitivity", "--only", "nothing"), 2,
                            "--only 'nothing'", "pcie-gen5-x16")

    def test_own_cases_and_their_mistakes(self):
        file = self.folder / "cases.yaml"
        head = ("schema: tiersim.sensitivity/v1\ntitle: Mine\ncurves: []\n"
                "levels: {title: Mine, hbm: {base: devices/h100_hbm3.yaml}}\n")
        for cases, said in (("{at: hbm}", "curve or workload"),
                            ("{curve: none, at: memory}", "is in none of the curves"),
                            ("{workload: hbm.strem, at: hbm}", "hbm.strem")):
            file.write_text(head + f"devices: [{{name: it, title: It, cases: [{cases}]}}]\n")
            self.expect_failure(run("validate", "sensitivity", "--cases", file), 3, said)


if __name__ == "__main__":
    unittest.main(argv=["validate_sensitivity_test"])
