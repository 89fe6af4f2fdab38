"""`tiersim calibrate` as a user runs it: output, files and errors."""
import json
import sys
import unittest

from program import SOURCE, InFolder, run

EXAMPLE = SOURCE / "configs/calibration/synthetic/2026-01-01-example"
IMPOSSIBLE = SOURCE / "tests/unit/hwmodels/data/three_impossible.json"


class Calibrate(InFolder):
    def test_it_fits_every_kernel_and_reports_unseen_cases(self):
        result = run("calibrate", EXAMPLE / "timings.csv", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(result.stdout)
        self.assertEqual(len(made["fits"]), 7)
        self.assertEqual(len(made["families"]), 7)
        for fit in made["fits"]:
            low, high = fit["t0_s"]["ci95"]
            self.assertLess(low, fit["t0_s"]["value"])
            self.assertGreater(high, fit["t0_s"]["value"])
            self.assertEqual(fit["errors"]["held_out"]["count"], 8)
            self.assertEqual(fit["errors"]["largest"]["count"], 1)
        text = run("calibrate", EXAMPLE / "timings.csv").stdout
        self.assertIn("every third, held out", text)
        self.assertIn("prefill_attention   none: specification", text)

    def test_what_it_writes_is_what_a_run_takes(self):
        folder = self.folder / "calibration/synthetic/2026-01-01-mine"
        made = run("calibrate", EXAMPLE / "timings.csv", "-o", folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(sorted(file.name for file in folder.iterdir()),
                         ["cases.csv", "gpu.yaml", "report.md"])
        scenario = self.folder / "s.yaml"
        scenario.write_text(
            "schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_dense_hbm.yaml\n"
            "step: {batch: 16}\nsystem: {gpu: {calibration: synthetic/2026-01-01-mine}}\n")
        result = run("run", scenario, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        results = json.loads(result.stdout)["results"]
        for name in ("step_time_s", "tpot_s", "bound_s", "throughput_tokens_per_s",
                     "screening_time_s", "energy_j_per_token", "cost_usd_per_mtoken"):
            self.assertIn("ci95", results["metrics"][name], name)
        for kernel in results["kernel_times"]:
            self.assertEqual(kernel["basis"], "transferred")
        # 8192 rows of 16 sequences are more than any timed case.
        attention = next(k for k in results["kernel_times"] if k["family"] == "attention")
        self.assertEqual(attention["beyond_timed_s"], attention["seconds"])
        self.assertIn("beyond what was timed", attention["source"])

    def test_three_impossible_cases_are_all_named(self):
        self.expect_failure(run("calibrate", IMPOSSIBLE), 3, "dense.join.67108864",
                            "host_gather.gather.loads.row256b.65536", "latent.append.b16",
                            "3 of 13 rows cannot be")

    def test_mistakes_of_all_files_come_at_once(self):
        for name in ("a.csv", "b.csv"):
            (self.folder / name).write_text("kernel,memory_bytes,time_us\nk,1000,1\nk,x,1\n")
        self.expect_failure(run("calibrate", self.folder / "a.csv", self.folder / "b.csv"), 3,
                            "a.csv:3", "b.csv:3")

    def test_timings_of_another_device_are_not_written(self):
        folder = self.folder / "h200/2026-01-01-x"
        self.expect_failure(run("calibrate", EXAMPLE / "timings.csv", "-o", folder), 3,
                            "was timed on 'synthetic', which is no h200")
        self.assertFalse(folder.exists())
        self.expect_failure(run("calibrate", EXAMPLE / "timings.csv", "-o", "x"), 2,
                            "<part>/<date>-<id>")

    def test_peaks_are_named_with_units(self):
        timings = EXAMPLE / "timings.csv"
        self.expect_failure(run("calibrate", timings, "--peak", "memroy=1 GB/s"), 2, "memory")
        self.expect_failure(run("calibrate", timings, "--peak", "l2=1"), 2, "--peak 'l2=1'")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
