"""`tiersim validate sensitivity`: validate_sensitivity_test.py PROGRAM SOURCE_FOLDER."""
import csv
import json
import re
import signal
import subprocess
import time
import unittest

from program import PROGRAM, SOURCE, InFolder, run

PAGE = SOURCE / "hwmodels/SENSITIVITY.md"
NUMBERS = SOURCE / "hwmodels/sensitivity.csv"
CASES = SOURCE / "reports/targets/sensitivity/h100_node.yaml"
MOVES = 0.01
VERDICTS = ["fails", "moves", "insensitive", "not changed"]


def shipped_numbers():
    with NUMBERS.open() as file:
        return list(csv.DictReader(file))


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
        rows = list(csv.DictReader((self.folder / "out/sensitivity.csv").read_text().splitlines()))
        shipped = [row for row in shipped_numbers() if row["device"] == "sm-loads-gen5-x16"]
        self.assertEqual(rows, shipped, "./tiersim validate sensitivity -o out/sensitivity; "
                         "tr -d '\\r' < out/sensitivity/sensitivity.csv > hwmodels/sensitivity.csv")

    def test_the_shipped_page_says_how_it_was_made_and_fits_a_page(self):
        lines = PAGE.read_text().splitlines()
        self.assertIn("./tiersim validate sensitivity", "\n".join(lines[:4]))
        self.assertLessEqual(max(map(len, lines)), 120)
        self.assertLessEqual(len(lines), 50)

    def test_the_shipped_page_counts_the_shipped_numbers(self):
        counted = {}
        for row in shipped_numbers():
            counted.setdefault(row["device"], []).append(row["verdict"])
        cells = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in PAGE.read_text().splitlines() if line.startswith("| ")]
        self.assertEqual(cells[0][1:6], ["numbers", *VERDICTS])
        shown = {row[0]: row[1:6] for row in cells[1:]}
        devices = re.findall(r"^  - name: (\S+)\n    title: \"?(.*?)\"?$", CASES.read_text(), re.M)
        self.assertEqual([name for name, _ in devices], list(counted))
        self.assertEqual({title: [str(len(counted[name])),
                                  *(str(counted[name].count(verdict)) for verdict in VERDICTS)]
                          for name, title in devices}, shown)

    def test_what_nothing_catches_has_a_reason(self):
        reasons = [row["reason"] for row in shipped_numbers()
                   if row["verdict"] in ("insensitive", "not changed")]
        self.assertGreater(len(set(reasons)), 20)
        self.assertNotIn("", reasons)

    def test_an_interruption_keeps_what_it_has(self):
        """Early in the run there may be nothing yet, which it then says."""
        process = subprocess.Popen([PROGRAM, "validate", "sensitivity", "-j", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertRegex(stderr, r"interrupted(: \d+ of \d+ numbers| before any number)")
        self.assertEqual("number " in stdout, "numbers were changed" in stderr, stdout)

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
