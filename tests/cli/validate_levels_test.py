"""`tiersim validate levels`: validate_levels_test.py PROGRAM SOURCE_FOLDER."""
import csv
import json
import pathlib
import tempfile
import unittest

from program import SOURCE, InFolder, run

PAGE = SOURCE / "hwmodels/LEVELS.md"
NUMBERS = SOURCE / "hwmodels/levels.csv"
# Columns that depend on the machine, and counts that an optimisation may lower.
COST = ("events", "ms")
UPDATE = ("./tiersim validate levels -o out/levels; sed '/^### /,$d' out/levels/levels.md | "
          "sed '$d' > hwmodels/LEVELS.md; tr -d '\\r' < out/levels/levels.csv > hwmodels/levels.csv")


def tables(document):
    """{heading: [row]} of a Markdown document, without the columns of cost."""
    found, heading, columns = {}, "", []
    for line in document.splitlines():
        if line.startswith("### "):
            heading, columns = line[4:], []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not columns:
                columns = cells
            elif not set(line) <= set("|-: "):
                row = [cell for name, cell in zip(columns, cells) if not name.startswith(COST)]
                found.setdefault(heading, []).append(row)
    return found


def number(text):
    """(value, what its last digit is worth), or None where it is no number."""
    digits = text.rstrip("* %")
    try:
        value = float(digits)
    except ValueError:
        return None
    return value, 10.0 ** -len(digits.partition(".")[2])


class ValidateLevels(InFolder):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.result = run("validate", "levels", "--json", "-o", folder)
            cls.files = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}

    def same(self, shown, shipped):
        if number(shown) is None or number(shipped) is None:
            return self.assertEqual(shown, shipped)
        (value, digit), (expected, _) = number(shown), number(shipped)
        return self.assertLessEqual(abs(value - expected), 1.01 * digit, (shown, shipped))

    def test_flow_agrees_where_it_must(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        cases = json.loads(self.result.stdout)["cases"]
        names = [(case["id"], case["level"]) for case in cases]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({case["group"] for case in cases},
                         {"hbm", "pcie", "cxl", "cxl-dram", "nvlink", "all-reduce",
                          "network"})
        held = [case for case in cases if case["status"] not in ("reference", "not held")]
        self.assertGreaterEqual(len(held), 20)
        for case in held:
            self.assertEqual((case["level"], case["status"]), ("flow", "within"))
            self.assertLessEqual(abs(case["error"]), 0.02, case)

    def test_errors_are_relative_to_packets(self):
        for case in json.loads(self.result.stdout)["cases"]:
            self.assertGreater(case["predicted"], 0)
            self.assertAlmostEqual(case["error"], case["predicted"] / case["reference"] - 1)
            self.assertEqual(case["level"] == "packet", case["status"] == "reference")

    def test_what_differs_much_has_a_reason(self):
        for case in json.loads(self.result.stdout)["cases"]:
            if case["level"] == "flow" and abs(case["error"]) > 0.05:
                self.assertTrue(case.get("why"), case["id"])

    def test_the_shipped_page_is_the_first_part_of_what_is_printed_today(self):
        shown = self.files["levels.md"].partition("\n### ")[0].splitlines()
        shipped = PAGE.read_text().splitlines()
        self.assertLessEqual(len(shipped), 30)
        self.assertEqual(len(shown), len(shipped), UPDATE)
        for line, expected in zip(shown, shipped):
            self.assertEqual(len(line.split()), len(expected.split()), UPDATE)
            for word, shipped_word in zip(line.split(), expected.split()):
                with self.subTest(line=expected):
                    self.same(word, shipped_word)

    def test_the_shipped_numbers_are_those_of_today(self):
        shown = list(csv.DictReader(self.files["levels.csv"].splitlines()))
        shipped = list(csv.DictReader(NUMBERS.read_text().splitlines()))
        self.assertEqual([row["id"] for row in shown], [row["id"] for row in shipped], UPDATE)
        for row, expected in zip(shown, shipped):
            with self.subTest(row["id"]):
                self.assertEqual(list(row), list(expected))
                for column in ("group", "title", "unit", "held"):
                    self.assertEqual(row[column], expected[column])
                for column in ("analytic", "flow", "packet"):
                    self.assertLessEqual(abs(float(row[column]) / float(expected[column]) - 1),
                                         1e-9, UPDATE)

    def test_tables_show_the_numbers_of_the_rows(self):
        rows = list(csv.DictReader(self.files["levels.csv"].splitlines()))
        cells = [row for heading, table in tables(self.files["levels.md"]).items() for row in table
                 if heading not in ("", "Cost of a simulation")]
        self.assertEqual(len(cells), len(rows))
        for cell, row in zip(cells, rows):
            with self.subTest(row["id"]):
                self.assertEqual(cell[:2], [row["title"], row["unit"]])
                self.assertEqual(cell[5].endswith("*"), row["held"] == "1")
                for shown, exact in zip(cell[2:], (
                        float(row["analytic"]), 100 * float(row["analytic_error"]),
                        float(row["flow"]), 100 * float(row["flow_error"]), float(row["packet"]))):
                    value, digit = number(shown)
                    self.assertLessEqual(abs(value - exact), 0.501 * digit, shown)

    def test_rows_for_figures_are_those_of_the_json(self):
        self.assertEqual(self.files["levels.json"], self.result.stdout)
        rows = list(csv.DictReader(self.files["levels.csv"].splitlines()))
        flow = {case["id"]: case for case in json.loads(self.result.stdout)["cases"]
                if case["level"] == "flow"}
        self.assertEqual({row["id"] for row in rows}, set(flow))
        for row in rows:
            self.assertAlmostEqual(float(row["flow"]), flow[row["id"]]["predicted"])
            self.assertAlmostEqual(float(row["packet"]), flow[row["id"]]["reference"])

    def test_tables_fit_a_terminal_and_end_with_three_lines(self):
        result = run("validate", "levels", "--only", "pcie.behind", "--only", "all-reduce")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        for line in lines:
            if not line.startswith("  ") and line not in lines[-3:]:
                self.assertLessEqual(len(line), 100, line)
        self.assertIn("write of 64 B behind 1 MiB", result.stdout)
        self.assertTrue(lines[-3].startswith("analytic: "), lines[-3:])
        self.assertTrue(lines[-2].startswith("flow: "), lines[-3:])

    def test_two_runs_differ_in_nothing_but_time(self):
        def answers():
            cases = json.loads(run("validate", "levels", "--only", "nvlink.mixed", "--only",
                                   "cxl.pool-more", "--json").stdout)["cases"]
            return [{k: v for k, v in case.items() if k != "wall_ms"} for case in cases]
        self.assertEqual(answers(), answers())

    def test_an_unknown_workload_is_told_with_those_there_are(self):
        result = run("validate", "levels", "--only", "nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("pcie.behind", result.stderr)

    def test_own_hardware_and_its_mistakes(self):
        file = self.folder / "map.yaml"
        file.write_text("schema: tiersim.fidelity_map/v1\ntitle: Mine\n"
                        "hbm: {base: devices/h200_hbm3e.yaml}\n")
        result = run("validate", "levels", "--hardware", file, "--only", "hbm.stream", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["summary"]["hardware"], "Mine")
        for mistake, said in (("modul: 1", "did you mean 'module'"),
                              ("pcie: {base: devices/root_complex.yaml}", "model: pcie"),
                              ("cxl: {base: devices/cxl_expander_link_gen5_x8.yaml}",
                               "packet_level.switch")):
            file.write_text("schema: tiersim.fidelity_map/v1\ntitle: Mine\n"
                            "hbm: {base: devices/h200_hbm3e.yaml}\n" + mistake + "\n")
            result = run("validate", "levels", "--hardware", file)
            self.expect_failure(result, 3, "map.yaml:", said)


if __name__ == "__main__":
    unittest.main(argv=["validate_levels_test"])
