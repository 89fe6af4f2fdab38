"""`tiersim validate kernels` as a user runs it: table, JSON, pictures, goals and mistakes."""
import json
import unittest

from program import SOURCE, InFolder, run

TIMINGS = SOURCE / "configs/calibration/synthetic/own-card/timings.csv"
DESCRIPTION = """schema: tiersim.timing_table/v1
description: made-up products
time: {column: us, unit: us}
labels: [dtype]
sizes: [m, n, k]
samples: [m]
dtype: {column: dtype}
memory_bytes: "2 * (m * k + n * k + m * n)"
flops: "2 * m * n * k"
form:
  name: product
  family: gemm
  sizes: {m: m, n: n, k: k, weight_bytes: 2, input_bytes: 2, quantises: 0, copies: 0}
"""


class ValidateKernels(InFolder):
    def setUp(self):
        super().setUp()
        self.table = self.folder / "products.yaml"
        self.table.write_text(DESCRIPTION)
        self.system = SOURCE / "configs/systems/l40s_host_dram.yaml"

    def ask(self, *arguments, file=TIMINGS):
        return run("validate", "kernels", file, "--table", self.table, "--system", self.system, *arguments)

    def test_it_prints_and_draws_the_errors(self):
        result = self.ask("--set", "gpu.calibration=none", "-o", self.folder / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^own-card +products +gemm +bf16 +\d+ ")
        self.assertIn("90th percentile", result.stdout)
        self.assertEqual(len(list((self.folder / "out").glob("*.svg"))), 1)

    def test_json_has_the_families(self):
        made = json.loads(self.ask("--json").stdout)
        (family,) = made["families"]
        for key in ("family", "dtype", "rows", "median_abs", "p90_abs", "bias", "within", "noise", "by_time"):
            self.assertIn(key, family)
        self.assertFalse((self.folder / "out").exists())

    def test_a_missed_goal_is_exit_status_5(self):
        goal = "goals: [{types: [bf16], median: %s, p90: 0.99}]\n"
        self.table.write_text(DESCRIPTION + goal % "0.001")
        result = self.ask("--no-files")
        self.assertEqual(result.returncode, 5)
        self.assertIn("0.1 / 99 % missed", result.stdout)
        self.assertIn("1 of 1 families miss their goals", result.stderr)
        self.table.write_text(DESCRIPTION + goal % "0.99")
        self.assertEqual(self.ask("--no-files").returncode, 0)

    def test_fits_without_a_shape_are_asked_about_it(self):
        made = json.loads(self.ask("--hold-out", "shape", "--json").stdout)
        (family,) = made["families"]
        self.assertEqual(family["by"], "fits without a fifth of the shapes")
        self.assertGreater(family["rows"], 100)

    def test_mistakes_say_what_there_is(self):
        self.expect_failure(self.ask("--hold-out", "all"), 2, "'all': one of nothing, shape, engine, gpu")
        self.expect_failure(run("validate", "kernels", TIMINGS, "--table", "gem"), 2, "did you mean 'gemm'?")
        self.expect_failure(run("validate", "kernels", self.folder / "none.csv", "--table", self.table,
                                "--system", self.system), 2, "none.csv': No such file or directory")
        self.expect_failure(run("validate", "kernels", TIMINGS, "--table", self.table), 2,
                            "its folder 'own-card' is no GPU that has a calibration", "name a system with --system")
        wrong = self.folder / "wrong.csv"
        wrong.write_text("dtype,m,n,us\nbf16,1,2,3\n")
        self.expect_failure(self.ask(file=wrong), 3, "wrong.csv:1:1: error: ", "'k'")

    def test_a_planted_lie_is_refused_by_its_name(self):
        lie = self.folder / "lie.csv"
        lie.write_text(TIMINGS.read_text() + "bf16,16384,8192,8192,1.5\n")
        before = json.loads(self.ask("--json").stdout)["families"][0]["rows"]
        self.assertEqual(json.loads(self.ask("--json", file=lie).stdout)["families"][0]["rows"], before)
        result = run("calibrate", "--table", self.table, lie, "--check", "--peak", "flops.bf16=362 TFLOP/s")
        self.assertRegex(result.stdout, r"above the peak +1 ")


if __name__ == "__main__":
    unittest.main(argv=[__file__])
