"""The verb numerics: numerics_test.py PROGRAM SOURCE_FOLDER."""
import array
import csv
import json
import pathlib
import struct
import sys
import tempfile
import unittest

import reproduced
from program import NIGHTLY, InFolder, nightly, run

STUDIES = ("maple", "tpla", "early-exit")


def npy(path, shape, values, kind="f"):
    """A .npy file of float32 or float64 ('d'), as NumPy writes it."""
    header = f"{{'descr': '<f{array.array(kind).itemsize}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     array.array(kind, values).tobytes())
    return path


def wave(count, step):
    """Numbers without a pattern, near enough."""
    return [((i * step) % 997 - 498) / 250 for i in range(1, count + 1)]


def check_that_the_oracle_leads(test, study):
    lines = {c["id"]: c for c in study["curves"]}["mass_by_budget"]["lines"]
    oracle = next(line for line in lines if line["name"] == "oracle")
    test.assertEqual(oracle["x"], [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2])
    test.assertEqual(len(lines), 8)
    for line in lines:
        for best, other in zip(oracle["y"], line["y"]):
            test.assertLessEqual(other, best)


class Studies(InFolder):
    """Output of the quickest study and, at night, of `numerics all` (some ten seconds), each run once."""
    @classmethod
    def setUpClass(cls):
        cls.all = run("numerics", "all" if NIGHTLY else "early-exit", "--json")
        cls.written = tempfile.TemporaryDirectory()
        cls.one = run("numerics", "early-exit", "-o", cls.written.name)

    @classmethod
    def tearDownClass(cls):
        cls.written.cleanup()

    def test_what_is_exact_holds(self):
        self.assertEqual(self.all.returncode, 0, self.all.stderr)
        studies = json.loads(self.all.stdout)["studies"]
        self.assertEqual([study["name"] for study in studies], list(STUDIES if NIGHTLY else STUDIES[2:]))
        for study in studies:
            self.assertTrue(study["statements"] and study["tables"])
            for statement in study["statements"]:
                if statement["exact"] or study["name"] == "maple":
                    self.assertTrue(statement["holds"], statement)

    @nightly
    def test_the_oracle_leads_every_curve_of_attention(self):
        check_that_the_oracle_leads(self, json.loads(self.all.stdout)["studies"][0])

    def test_two_processes_compute_the_same(self):
        report = pathlib.Path(self.written.name) / "early-exit/report.json"
        self.assertEqual(json.loads(report.read_text())["studies"],
                         json.loads(self.all.stdout)["studies"][-1:])

    @nightly
    def test_statements_that_reproduce_shows_are_those_of_the_whole_study(self):
        # reproduce takes fewer seeds and slices; the verdicts are the same.
        study = json.loads(self.all.stdout)["studies"][1]
        self.assertEqual(study["name"], "tpla")
        whole = {s["id"].removeprefix("tpla."): s["holds"] for s in study["statements"]}
        whole["pd_separation"] = whole.pop("prefill_is_mla")
        short = {r["id"].removeprefix("tpla.numerics."): r["holds"]
                 for r in reproduced.report("tpla")["sections"]["tpla.numerics"]}
        self.assertEqual(short, whole)

    def test_a_terminal_gets_tables_curves_and_statements(self):
        self.assertEqual(self.one.returncode, 0, self.one.stderr)
        for text in ("== early-exit ==", "Confidence by layer", " |", "holds early_exit.batch_rule, exact",
                     "\n1 plot more: --full, or the files (-o)\n"):
            self.assertIn(text, self.one.stdout)


class GivenHeads(InFolder):
    def heads(self, tokens=128, dim=16, queries=None):
        queries = tokens if queries is None else queries
        return [npy(self.folder / "q.npy", (2, queries, dim), wave(2 * queries * dim, 613)),
                npy(self.folder / "k.npy", (2, tokens, dim), wave(2 * tokens * dim, 389), "d"),
                npy(self.folder / "v.npy", (2, tokens, 4), wave(2 * tokens * 4, 211))]

    def test_a_digest_names_what_it_leaves_out(self):
        arrays = self.heads(tokens=64)
        short = run("numerics", "--qk", *arrays)
        self.assertEqual(short.returncode, 0, short.stderr)
        for text in ("a oracle", "| ", "holds selection.oracle_is_best, exact",
                     "\n1 long table and 3 plots more: --full, or the files (-o)\n"):
            self.assertIn(text, short.stdout)
        self.assertNotIn("Choice of rows by budget, 2 heads", short.stdout)
        full = run("numerics", "maple", "--full", "--qk", *arrays)
        self.assertGreater(len(full.stdout.splitlines()), len(short.stdout.splitlines()) + 80)
        self.assertIn("Choice of rows by budget, 2 heads", full.stdout)
        self.assertNotIn("more: --full", full.stdout)

    def test_files_of_given_heads(self):
        result = run("numerics", "--qk", *self.heads(), "-o", self.folder / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        folder = self.folder / "out/given_heads"
        report = json.loads((folder / "report.json").read_text())["studies"][0]
        self.assertEqual(sorted(p.name for p in folder.iterdir()), sorted(
            ["report.json", "report.md", "statements.csv"] +
            [t["id"] + ".csv" for t in report["tables"] + report["curves"]]))
        self.assertNotIn("maple", (folder / "selection_by_budget.csv").read_text())
        self.assertIn("no hidden states", (folder / "report.md").read_text())
        with open(folder / "recall_by_budget.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(r["oracle"]) for r in rows], [1.0] * 6)
        self.assertEqual(float(rows[0]["share of rows"]), 1 / 64)

    def test_hidden_states_bring_maple(self):
        x = npy(self.folder / "x.npy", (128, 32), wave(128 * 32, 457))
        result = run("numerics", "maple", "--qk", *self.heads(), x, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        study, = json.loads(result.stdout)["studies"]
        self.assertIn("maple.int8_within_bound", [s["id"] for s in study["statements"]])
        check_that_the_oracle_leads(self, study)

    def test_few_queries_leave_h2o_out(self):
        result = run("numerics", "--qk", *self.heads(queries=20), "--full")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no h2o", result.stdout)

    def test_every_mistake_in_files(self):
        q, k, v = self.heads()
        q.write_bytes(b"no array")
        v.write_bytes(v.read_bytes()[:-1])
        result = run("numerics", "--qk", q, k, v)
        self.expect_failure(
            result, 3, f"{q}:1:1: error: byte 0: not a .npy file",
            f"{v}:1:1: error: byte 128: 4095 bytes of data, where shape (2, 128, 4) of float32 has 4096")

    def test_shapes_that_do_not_fit(self):
        q, k, _ = self.heads()
        v = npy(self.folder / "v.npy", (2, 100, 4), wave(800, 3))
        self.expect_failure(run("numerics", "--qk", q, k, v), 3,
                            f"{v}:1:1: error: 100 tokens, where K has 128")

    def test_elements_that_no_result_can_hold(self):
        q, k, v = self.heads(tokens=64)
        values = wave(2 * 64 * 16, 389)
        values[64 * 16 + 16 * 3 + 5] = 1e300
        npy(k, (2, 64, 16), values, "d")
        npy(v, (2, 64, 4), [x * 1e-200 for x in wave(2 * 64 * 4, 211)], "d")
        self.expect_failure(
            run("numerics", "--qk", q, k, v), 3,
            f"{k}:1:1: error: element (1, 3, 5) is 1e+300, not within +-1e+30",
            f"{v}:1:1: error: the largest element of head 0 is 1.99", "e-200 in magnitude, below 1e-30")
        npy(v, (2, 64, 4), [float("nan")] * 512)
        self.expect_failure(run("numerics", "--qk", q, k, v), 3,
                            f"{v}:1:1: error: byte 128: element 0 is not a number")

    def test_hidden_states_that_are_too_large(self):
        x = npy(self.folder / "x.npy", (64, 32), [1e200 * x for x in wave(64 * 32, 457)], "d")
        self.expect_failure(run("numerics", "--qk", *self.heads(tokens=64), x), 3,
                            f"{x}:1:1: error: element (0, 0) is", "(and 204")

    def test_weights_that_all_but_one_vanish(self):
        q, k, v = self.heads(tokens=64)
        npy(k, (2, 64, 16), [1e28 * x for x in wave(2 * 64 * 16, 389)], "d")
        result = run("numerics", "--qk", q, k, v)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("nan", result.stdout)

    def test_usage(self):
        self.expect_failure(run("numerics", "mapel"), 2, "did you mean 'maple'?")
        self.expect_failure(run("numerics", "tpla", "--qk", *self.heads()), 2, "--qk is for maple")
        self.expect_failure(run("numerics", "--qk", "a", "b"), 2, "--qk")
        for seed in ("-1", "99999999999999999999999", "18446744073709551616", "010", "0x10", "1.5"):
            self.expect_failure(run("numerics", f"--seed={seed}"), 2, "seed is a whole number from 0 "
                                f"to 18446744073709551615, not '{seed}'")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
