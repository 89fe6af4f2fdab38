"""TPLA's targets as a user reproduces them: reproduce_tpla_test.py PROGRAM SOURCE_FOLDER."""
import csv
import itertools
import json
import math
import os
import re
import shutil
import sys
import unittest

import reproduced
from program import SOURCE, InFolder, nightly, run

AXES = ("machine", "tiles", "region", "output projection", "batch", "host")
CASES = {"deepseek-v3": 1.79, "kimi-k2": 1.93}
STATUSES = {"pass", "fail", "rule", "explained", "unexplained", "consistency", "prediction", "input",
            "shape"}


def report():
    return reproduced.report("tpla")


def grid():
    return report()["sections"]["tpla.decode_speedup_32k"]["cells"]


class Targets(InFolder):
    def setUp(self):
        super().setUp()
        self.targets = {t["id"]: t for t in report()["targets"]}

    def test_have_the_ids_of_the_list_and_hold(self):
        self.assertEqual(len(self.targets), len(report()["targets"]), "an id stands twice")
        for target in self.targets.values():
            self.assertEqual(list(target), ["id", "reading", "paper", "simulated", "unit", "tolerance",
                                            "status", "why"])
            self.assertIn(target["reading"], ("paper", "first_principles"))
            self.assertIn(target["status"], STATUSES - {"fail"}, target)
            self.assertTrue(target["why"] or target["status"] in ("pass", "shape"), target)

    def test_tables_of_one_gpu_are_exact(self):
        for name, value in (("kv_per_device.llama3-70b.gqa", 512), ("kv_per_device.deepseek-v3.mla", 576),
                            ("kv_per_device.deepseek-v3.tpla", 320), ("heads_per_device.deepseek-v3.mla", 64),
                            ("heads_per_device.kimi-k2.mla", 32), ("heads_per_device.deepseek-v3.tpla", 128),
                            ("heads_per_device.kimi-k2.tpla", 64)):
            target = self.targets["tpla." + name]
            self.assertEqual((target["paper"], target["simulated"], target["status"]),
                             (value, value, "pass"), name)

    def test_what_the_paper_leaves_open_is_never_a_pass(self):
        for name in ("decode_speedup_32k", "decode_speedup_peak", "ttft_1k"):
            for case in CASES:
                target = self.targets[f"tpla.{name}.{case}"]
                self.assertIn(target["status"], ("explained", "unexplained"))
                self.assertEqual(target["reading"], "paper")
        for case, paper in CASES.items():
            self.assertEqual(self.targets[f"tpla.decode_speedup_32k.{case}"]["paper"], paper)
        for name in ("speedup_tp4", "h20_loses"):
            found = [t["status"] for t in self.targets.values() if t["id"].startswith("tpla." + name)]
            self.assertEqual(set(found), {"shape"}, name)
        self.assertLess(self.targets["tpla.h20_loses"]["simulated"], 1)

    def test_cells_worked_out_by_hand_are_within_three_percent(self):
        by_hand = {"h100_790": (1.80,), "h100_660": (1.67,), "h200_660": (1.20,), "h200_790": (1.44,),
                   "h20": (0.94,), "weights_replicated": (1.42, 1.66), "weights_split": (1.64, 1.77),
                   "padded_h20": (1.80, 1.84)}
        for name, values in by_hand.items():
            for case, value in zip(CASES, values):
                target = self.targets[f"tpla.decode_speedup_evidence.{name}.{case}"]
                self.assertEqual((target["paper"], target["status"]), (value, "pass"))
                self.assertAlmostEqual(target["simulated"] / value, 1, delta=0.03, msg=name)
        self.assertEqual(self.targets["tpla.decode_speedup_evidence.a100.deepseek-v3"]["status"],
                         "consistency")


class Grid(InFolder):
    def test_is_whole(self):
        self.assertEqual(len(grid()), 8 * 4 * 3 * 2 * 5 * 2 * len(CASES))
        axes = [list(dict.fromkeys(row[axis] for row in grid())) for axis in AXES]
        self.assertEqual([len(axis) for axis in axes], [8, 4, 3, 2, 5, 2])
        cells = {tuple(row[axis] for axis in AXES) + (row["case"],) for row in grid()}
        self.assertEqual(cells, set(itertools.product(*axes, CASES)))

    def test_factors_multiply_to_each_ratio(self):
        for row in grid():
            if "problem" in row:
                continue
            self.assertEqual(list(row["factors"]),
                             ["bytes", "flops", "padding", "weights", "batch", "collectives"])
            product = math.prod(row["factors"].values())
            self.assertAlmostEqual(product / row["ratio"], 1, delta=1e-6, msg=str(row))
            rates = row["other"]["tokens_per_s"] / row["base"]["tokens_per_s"]
            self.assertAlmostEqual(rates / row["ratio"], 1, delta=1e-12)

    def test_factors_are_one_where_an_ingredient_is_equal(self):
        for row in grid():
            factors = row["factors"]
            if row["tiles"] == "unpadded":
                self.assertEqual(factors["padding"], 1)
            if row["region"] == "attention":
                self.assertEqual((factors["weights"], factors["collectives"]), (1, 1))
            if row["base"]["batch"] == row["other"]["batch"]:
                self.assertEqual(factors["batch"], 1)
            self.assertEqual(row["batch"] == "same at .9", row["base"]["batch"] == row["other"]["batch"])

    def test_near_is_what_the_bands_say(self):
        bands = {"deepseek-v3": 0.05, "kimi-k2": 0.08}
        near = {}
        for row in grid():
            of = abs(row["ratio"] / CASES[row["case"]] - 1) <= bands[row["case"]]
            self.assertEqual(row["near"], of)
            near.setdefault(tuple(row[axis] for axis in AXES), []).append(of)
        for row in grid():
            self.assertEqual(row["near_all"], all(near[tuple(row[axis] for axis in AXES)]))

    def test_ratios_are_those_of_single_runs(self):
        # Whole picoseconds an operation: under 2000 of them in steps of 5 ms or more.
        for row in grid():
            if (row["machine"], row["tiles"], row["region"], row["batch"], row["host"]) != (
                    "H20", "128", "layers", ".9", "none"):
                continue
            rates = {}
            for way, scenario in (("base", "mla"), ("other", "tpla")):
                split = f"parallel.output_projection={row['output projection']}" if way == "other" else \
                    "parallel.output_projection=replicated"
                result = run("run", SOURCE / f"configs/scenarios/tpla/{row['case'].replace('-', '_')}_{scenario}.yaml",
                             "--json", "--set", "system.base=systems/h20_nvlink.yaml", "--set", "system.gpu.calibration=none",
                             "--set", "attention_kernel.base=kernels/tiles_128.yaml",
                             "--set", "step.region=layers", "--set", split,
                             "--set", f"step.batch={row[way]['batch']}")
                self.assertEqual(result.returncode, 0, result.stderr)
                metrics = json.loads(result.stdout)["results"]["metrics"]
                rates[way] = metrics["throughput_tokens_per_s"]["value"]
                self.assertEqual(metrics["max_batch"]["value"], row[way]["batch"])
            self.assertAlmostEqual(rates["other"] / rates["base"] / row["ratio"], 1, delta=1e-6)


class Curves(InFolder):
    def test_have_every_point_and_name_its_limit(self):
        fig3 = report()["sections"]["tpla.fig3"]["points"]
        ttft = report()["sections"]["tpla.ttft"]["points"]
        for points, machines, contexts in ((fig3, 8, 8), (ttft, 6, 7)):
            ways = {point["way"] for point in points}
            self.assertGreaterEqual(len(ways), 4)
            self.assertEqual(len(points), machines * len(CASES) * contexts * len(ways))
            self.assertEqual(len({tuple(p[k] for k in ("machine", "case", "way", "context")) for p in points}),
                             len(points))
        for point in fig3 + ttft:
            self.assertIn(point["limit"], ("HBM", "FLOP", "capacity", "all-reduce", "host", "launch"))
            self.assertTrue("problem" in point or point["batch"] >= 1)

    def test_batches_are_the_largest_that_fit(self):
        fig3 = report()["sections"]["tpla.fig3"]["points"]
        point = next(p for p in fig3 if (p["machine"], p["case"], p["way"], p["context"]) ==
                     ("H100 790", "deepseek-v3", "TPLA TP2", 32768))
        scenario = SOURCE / "configs/scenarios/tpla/deepseek_v3_tpla.yaml"
        # The machine has the memory that the driver shows, the scenario that of the data sheet.
        batch = ("run", scenario, "--json", "--set",
                 "system.base=[systems/h100_nvlink.yaml, bases/collectives_direct.yaml]", "--set",
                 "system.gpu.calibration=none", "--set")
        fits = json.loads(run(*batch, f"step.batch={point['batch']}").stdout)["results"]["metrics"]
        self.assertAlmostEqual(fits["throughput_tokens_per_s"]["value"] / point["throughput_tokens_per_s"], 1,
                               delta=1e-12)
        self.assertEqual(run(*batch, f"step.batch={point['batch'] + 1}").returncode, 3)


class Files(InFolder):
    def test_are_written(self):
        folder = reproduced.files() / "tpla"
        for stem in ("decode_speedup_32k", "decode_speedup_32k_common", "decode_speedup_32k_factors",
                     "fig3", "fig3_deepseek-v3", "fig3_kimi-k2", "ttft", "ttft_printed", "results"):
            for kind in ("csv", "tex"):
                self.assertTrue((folder / f"{stem}.{kind}").is_file(), stem)
        self.assertTrue(list(folder.glob("*.svg")))
        self.assertEqual((folder / "win_map_without_G.svg").read_text(),
                         (SOURCE / "reports/assets/tpla_win_map.svg").read_text(),
                         "the README's picture is of another run: copy this one over it")
        with open(folder / "decode_speedup_32k.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len([row for row in grid() if "problem" not in row]))
        for row in rows:
            product = math.prod(float(row[name]) for name in
                                ("bytes", "flops", "padding", "weights", "batch", "collectives"))
            self.assertAlmostEqual(product / float(row["ratio"]), 1, delta=1e-6)
        for line in reproduced.printed("tpla"):
            self.assertNotIn(" nan", line)

    @nightly  # of MAPLE's report, every change
    def test_the_report_is_what_json_prints_once_more(self):
        result = run("reproduce", "tpla", "--json", "--no-files")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, (reproduced.files() / "tpla/report.json").read_text())


class Mistakes(InFolder):
    """On a small part of the targets, which has a kind of each."""

    def setUp(self):
        super().setUp()
        os.symlink(SOURCE / "configs", self.folder / "configs")
        shutil.copytree(SOURCE / "reports/targets", self.folder / "reports/targets")
        self.file = self.folder / "reports/targets/tpla.yaml"
        text = self.file.read_text()
        for part in (r"(?m)^base: .*\n", r"(?ms)^  - id: tpla\.fig3_timed\n.*?(?=^grids:)", r"(?ms)^    subsets:.*",
                     r'(?m)^      - \{label: ("64"|fa3), kernel: .*\n', r'(?m)^      - \{label: "\.(7|8|95)", near_share.*\n',
                     r"(?m)^      - \{label: declared, .*\n", r'(?m)^    - \{label: "(H800|B200)", .*\n',
                     r"(?<=contexts: \[1024, )(\d+, )+"):
            text, found = re.subn(part, "", text)
            self.assertTrue(found, part)
        self.file.write_text(text)

    def reproduce(self, *options):
        return run("reproduce", "tpla", "--no-files", *options,
                   env={**os.environ, "TIERSIM_CONFIGS": str(self.folder / "configs")})

    def test_in_a_setting(self):
        for setting, text in (("system.gpus.count=3", "gpus.count"), ("system.gpus.cout=2", "'cout'"),
                              ("system.gpus.count=two", "'two'"), ("step.batch=0", "out of range")):
            self.expect_failure(self.reproduce("--set", setting), 3, text)

    def doctored(self, *changes):
        text = self.file.read_text()
        for replace, by in changes:
            self.assertIn(replace, text)
            text = text.replace(replace, by)
        self.file.write_text(text)
        return self.reproduce()

    def test_without_a_mistake_the_part_holds(self):
        result = self.reproduce()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_check_that_fails_is_exit_5(self):
        result = self.doctored(("to: 131072, at_most: 1.0,", "to: 131072, at_most: 0.9,"),
                               ("ratios: [1.42, 1.66]", "ratios: [1.52, 1.66]"))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertRegex(result.stdout, r"tpla.h20_loses +0.9 .* fail")
        self.assertRegex(result.stdout, r"weights_replicated.deepseek-v3 +1.52 .* fail")

    def test_in_the_targets(self):
        result = self.doctored(('ways: ["explicit, replicated", ', 'ways: ["explicit, replicatd", '))
        self.expect_failure(result, 3, "tpla.yaml:", "there is no 'explicit, replicatd'")

    def test_a_metric_that_its_steps_have_not(self):
        self.expect_failure(self.doctored(("metric: ttft_s", "metric: tpot_s")), 3,
                            "tpla.ttft: 'DeepSeek-V3 MLA TP2' has no metric 'tpot_s'")

    def test_ways_on_other_devices_are_not_factored(self):
        result = self.doctored(
            ("        baseline: {label: \"MLA TP2\", scenario: scenarios/tpla/kimi_k2_mla.yaml}",
             "        baseline: {label: \"MLA TP2\", scenario: scenarios/tpla/kimi_k2_mla.yaml, "
             "set: [\"system.base=systems/a100_nvlink.yaml\"]}"))
        self.expect_failure(result, 3, "the two run attention on different devices")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
