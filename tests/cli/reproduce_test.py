"""Verbs on a paper's targets and questions: reproduce_test.py PROGRAM SOURCE_FOLDER."""
import csv
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest

import reproduced
from program import MAPLE, SOURCE, InFolder, run


@functools.cache
def reproduce(*options):
    """`reproduce maple` without files; some seconds, so once for all tests that read it."""
    with tempfile.TemporaryDirectory() as folder:
        result = run("reproduce", "maple", "--no-files", *options, cwd=folder)
        assert not os.listdir(folder), os.listdir(folder)
    return result


@functools.cache
def reproduce_in_full():
    """All that is printed, without files, and its timeline."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "t.json"
        return reproduce("--full", "--trace", trace), json.loads(trace.read_text())


class Reproduce(InFolder):
    def test_maple_prints_every_cell(self):
        result = reproduce("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        targets = {(t["id"], t["reading"]): t for t in json.loads(result.stdout)["targets"]}
        expected = {
            "paper": {"llama2-7b": ((512, 768, 544), (512, 132, 128)),
                      "llama2-13b": ((1000, 1500, 1062.5), (1000, 256.25, 250))},
            "first_principles": {"llama2-7b": ((512, 768, 544), (512, 132, 128)),
                                 "llama2-13b": ((800, 1200, 850), (800, 206.25, 200))},
        }
        for reading, models in expected.items():
            for model, (footprints, loads) in models.items():
                for method, footprint, load in zip(("dense", "sparq", "maple"), footprints, loads):
                    row = f"maple.table1.{model}.{method}"
                    self.assertEqual(targets[row + ".footprint", reading]["simulated"], footprint)
                    self.assertEqual(targets[row + ".load", reading]["simulated"], load)
        for target in targets.values():
            self.assertIn(target["status"], ("pass", "rule", "shape"))
            self.assertEqual(bool(target["why"]), target["status"] != "pass")

    def test_files_in_four_formats(self):
        folder = reproduced.files() / "maple"
        report = json.loads((folder / "report.json").read_text())
        named = [s["id"].removeprefix("maple.").replace(".", "_")
                 for s in report["studies"] + report["solves"]]
        tables = ["table_paper", "table_first_principles", "figures", "decode_step", "digest"] + named
        written = sorted(p.name for p in folder.iterdir())
        self.assertEqual(written, sorted(
            ["report.md", "report.json"] +
            [f"{name}.{kind}" for kind in ("csv", "tex") for name in tables]))
        self.assertIn("\\toprule",
                      (folder / "table_paper.tex").read_text())
        for study in report["studies"]:
            stem = study["id"].removeprefix("maple.").replace(".", "_")
            with open(folder / f"{stem}.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), len(study["rows"]))
            self.assertEqual(list(rows[0]), [c["name"] for c in study["columns"]] + ["problem"])

    def test_every_point_is_whole_or_says_why_not(self):
        studies = json.loads(reproduce("--json").stdout)["studies"]
        self.assertGreaterEqual(len(studies), 10)
        for study in studies:
            for row in study["rows"]:
                where = f"{study['id']} {row}"
                if "problem" in row:
                    self.assertRegex(row["problem"], "fit", where)
                    self.assertNotIn("\n", row["problem"])
                    continue
                self.assertTrue(all(row[c["name"]] is not None for c in study["columns"]), where)
                split = [v for k, v in row.items() if k.startswith("split.")]
                if split:  # whole picoseconds as doubles of seconds
                    self.assertAlmostEqual(sum(split), row["step_time_s"], delta=1e-12, msg=where)
                shares = [v for k, v in row.items() if k.startswith("share.")]
                if shares:
                    self.assertAlmostEqual(sum(shares), 1, delta=1e-12, msg=where)

    def test_two_reports_are_the_same_bytes(self):
        self.assertEqual(reproduce("--json").stdout, (reproduced.files() / "maple/report.json").read_text())

    def test_points_read_after_one_another_are_those_of_a_run(self):
        # Rows of one study differ in a number, and only that is read again.
        studies = {s["id"]: s for s in json.loads(reproduce("--json").stdout)["studies"]}
        for study, scenario in (("maple.fig1_left.hbm", "llama2_7b_dense_hbm"),
                                ("maple.fig1_left.pool", "llama2_7b_dense_pool")):
            for row in studies[study]["rows"][::3]:
                ran = run("run", SOURCE / f"configs/scenarios/maple/{scenario}.yaml", "--json",
                          "--set", "step.batch=2", "--set", f"step.context={row['context']}")
                record = json.loads(ran.stdout)
                self.assertEqual(row["run_id"], record["provenance"]["run_id"])
                self.assertEqual(row["step_time_s"],
                                 record["results"]["metrics"]["step_time_s"]["value"])

    def test_tables_fit_a_wide_terminal(self):
        summary = reproduced.printed("maple")
        full = reproduce_in_full()[0].stdout.splitlines()
        self.assertLess(len(summary), 190)
        self.assertGreater(len(full), 2 * len(summary))
        self.assertEqual([line for line in summary[:-1] if line not in full], [])
        digest = summary[next(i for i, l in enumerate(summary) if l.startswith("Beyond the paper")):]
        self.assertRegex(digest[1], "^method +largest batch +tokens/s there +energy/token +cost/Mtoken")
        report = json.loads(reproduce("--json").stdout)
        rows = {s["id"]: s for s in report["studies"]}["maple.at_largest_batch"]["rows"]
        for row, line in zip(rows, digest[3:]):
            self.assertRegex(line, rf"^{row['method']} +{row['max_batch']:.0f} ")
        self.assertEqual([line for line in summary + full if len(line) >= 160], [])

    def test_no_files_writes_none(self):
        result, _ = reproduce_in_full()  # reproduce() looks for files
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("index.html", result.stderr)

    def doctored(self, replace, by, file="maple.yaml"):
        configs = self.folder / "configs"
        os.symlink(SOURCE / "configs", configs)
        targets = self.folder / "reports/targets"
        shutil.copytree(SOURCE / "reports/targets", targets)
        text = (targets / file).read_text()
        self.assertIn(replace, text)
        (targets / file).write_text(text.replace(replace, by))
        # The figures of the paper are enough; the other studies take most of the time.
        studies = targets / "studies/maple.yaml"
        text, found = re.subn(r"(?ms)^  - id: maple\.context\n.*", "", studies.read_text())
        self.assertTrue(found)
        studies.write_text(text)
        return run("reproduce", "maple", "--no-files",
                   env={**os.environ, "TIERSIM_CONFIGS": str(configs)})

    def test_a_missed_target_is_exit_5(self):
        result = self.doctored("paper: 512}", "paper: 513}")
        self.assertEqual(result.returncode, 5)
        self.assertIn("fail", result.stdout)

    def test_a_figure_that_shows_something_else_is_exit_5(self):
        result = self.doctored("value: 2\n", "value: 3\n", "studies/maple.yaml")
        self.assertEqual(result.returncode, 5)
        self.assertRegex(result.stdout, r"maple.fig3_dataflow.sparq_crossings +3 +2 .* fail")

    def test_a_column_that_is_none(self):
        result = self.doctored("columns: [step_time_s, split,", "columns: [step_times, split,",
                               "studies/maple.yaml")
        self.expect_failure(result, 3, "maple.yaml:", "error: studies.0.columns.0: there is no column 'step_times'")

    def test_a_list_that_is_none(self):
        result = self.doctored("variants: screening}", "variants: screenings}", "studies/maple.yaml")
        self.expect_failure(result, 3, "names no list of variants", "methods, screening, systems")

    def test_a_mistake_in_a_setting_says_whose_it_is(self):
        result = self.doctored("key: step.context", "key: step.contxt", "studies/maple.yaml")
        self.expect_failure(result, 3, "'contxt'", "in 'maple.fig1_left.hbm'")

    def test_an_unknown_paper(self):
        self.expect_failure(run("reproduce", "mapel"), 2, "maple")

    def test_trace_holds_every_step(self):
        events = reproduce_in_full()[1]["traceEvents"]
        names = [e["args"]["name"] for e in events if e.get("name") == "process_name"]
        self.assertEqual(len([name for name in names if not name.endswith(": devices")]), 8)


class Solve(InFolder):
    QUESTION = ("solve", MAPLE, "--set", "step.batch=16", "--vary", "what_if.far_bandwidth",
                "--between", "0.1", "1000")

    def test_what_it_finds_is_what_a_run_gives(self):
        result = run(*self.QUESTION, "--equals", "50 ms", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual((answer["outcome"], answer["unit"]), ("found", "s"))
        self.assertAlmostEqual(answer["achieved"], 0.05, delta=0.05 * 1e-5)
        again = json.loads(run("run", MAPLE, "--set", "step.batch=16", "--set",
                               f"what_if.far_bandwidth={answer['value']}", "--json").stdout)
        self.assertEqual(again["results"]["metrics"]["tpot_s"]["value"], answer["achieved"])
        self.assertEqual(again["provenance"]["run_id"], answer["run_id"])
        self.assertEqual(run(*self.QUESTION, "--equals", "50 ms", "--json").stdout, result.stdout)

    def test_a_sentence_for_people(self):
        said = run(*self.QUESTION, "--equals", "50 ms").stdout
        self.assertRegex(said, r"^what_if.far_bandwidth = [\d.]+: tpot_s is 50 ms \(asked: 50 ms\), bounded by ")

    def test_a_factor_is_also_said_in_the_unit_of_the_device(self):
        lines = run(*self.QUESTION, "--equals", "50 ms").stdout.splitlines()
        self.assertRegex(lines[1], r"^sm.to_gpu [\d.]+ GB/s, [\d.]+ times 35.2 GB/s$")
        answer = json.loads(run(*self.QUESTION, "--equals", "50 ms", "--json").stdout)
        device = answer["devices"][0]
        self.assertEqual((device["name"], device["base"]), ("sm.to_gpu", "35.2 GB/s"))
        self.assertAlmostEqual(device["factor"], float(answer["value"]))
        value, unit = device["value"].split()
        self.assertEqual(unit, "GB/s")
        self.assertAlmostEqual(float(value), 35.2 * device["factor"], delta=0.001 * float(value))

    def test_a_quantity_is_also_said_as_a_factor(self):
        result = run("solve", MAPLE, "--vary", "system.sm.to_gpu", "--between", "10 GB/s", "60 GB/s",
                     "--equals", "3.5 s")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout.splitlines()[1],
                         r"^system.sm.to_gpu [\d.]+ GB/s, [\d.]+ times 35.2 GB/s$")

    def test_every_range_has_the_same_answer(self):
        values = set()
        for low, high in (("0.1", "1000"), ("1", "100"), ("3.3", "17")):
            answer = json.loads(run("solve", MAPLE, "--set", "step.batch=16", "--vary", "what_if.far_bandwidth",
                                    "--between", low, high, "--metric", "tpot", "--equals", "50 ms", "--json").stdout)
            values.add(answer["value"])
        self.assertEqual(len(values), 1, values)

    def test_a_step_has_no_seeds(self):
        self.expect_failure(run(*self.QUESTION, "--equals", "50 ms", "--seeds", 2), 2, "--seeds: is of a server")

    def test_goals_hold_for_a_step_too(self):
        answer = json.loads(run("solve", MAPLE, "--vary", "step.batch", "--between", 1, 128, "--require",
                                "tpot <= 1 s", "--require", "kv_footprint<1 TB", "--maximize", "step.batch",
                                "--json").stdout)
        direct = json.loads(run("solve", MAPLE, "--vary", "step.batch", "--between", "1", "128",
                                "--equals", "1 s", "--json").stdout)
        self.assertEqual(answer["value"], direct["value"])
        self.assertTrue(all(metric["holds"] for metric in answer["metrics"]))
        best = json.loads(run("solve", MAPLE, "--vary", "step.batch", "--between", 1, 128, "--require",
                              "tpot<=1s", "--maximize", "throughput", "--json").stdout)
        self.assertEqual(best["metrics"][0]["metric"], "throughput_tokens_per_s")
        self.assertTrue(best["metrics"][1]["holds"])

    def test_out_of_reach_is_exit_5(self):
        result = run(*self.QUESTION, "--equals", "1 us")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("no value in 0.1 to 1000 does it", result.stdout)
        self.assertIn("at 1000, bounded by", result.stdout)
        result = run(*self.QUESTION, "--equals", "1 us", "--json")
        self.assertEqual((result.returncode, json.loads(result.stdout)["outcome"]), (5, "beyond"))
        result = run(*self.QUESTION, "--metric", "kv_footprint_bytes", "--equals", "1 GB", "--json")
        self.assertEqual((result.returncode, json.loads(result.stdout)["outcome"]), (5, "flat"))

    def test_equal_to_another_scenario(self):
        other = MAPLE.parent / "llama2_7b_dense_hbm.yaml"
        answer = json.loads(run(*self.QUESTION, "--equal-to", other, "--other-set",
                                "step.batch=16", "--json").stdout)
        direct = json.loads(run("run", other, "--set", "step.batch=16", "--json").stdout)
        self.assertEqual(answer["target"], direct["results"]["metrics"]["tpot_s"]["value"])

    def test_whole_numbers_and_units(self):
        answer = json.loads(run("solve", MAPLE, "--vary", "step.batch", "--between", "1", "128",
                                "--equals", "1 s", "--json").stdout)
        times = [json.loads(run("run", MAPLE, "--set", f"step.batch={b}", "--json").stdout)
                 ["results"]["metrics"]["tpot_s"]["value"]
                 for b in (int(answer["value"]), int(answer["value"]) + 1)]
        self.assertTrue(times[0] <= 1 < times[1], times)
        self.assertEqual((answer["achieved"], answer["next"]),
                         (times[0], {"value": str(int(answer["value"]) + 1), "achieved": times[1]}))
        result = run("solve", MAPLE, "--vary", "system.gpu.launch", "--between", "1 us", "10 ms",
                     "--equals", "5 s")
        self.assertRegex(result.stdout, r"^system.gpu.launch = [\d.]+ [um]s: ")

    def test_what_does_not_fit_is_left_out(self):
        fits = int(json.loads(run("run", MAPLE, "--json").stdout)["results"]["metrics"]["max_batch"]["value"])
        asked = ("solve", MAPLE, "--vary", "step.batch", "--between", "1", "9000", "--equals")
        result = run(*asked, "1 s")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^searched 1 to {fits}; at step.batch={fits + 1}: tier ")
        self.assertEqual(run(*asked, "1 s").stdout.splitlines()[0],
                         run("solve", MAPLE, "--vary", "step.batch", "--between", "1", fits,
                             "--equals", "1 s").stdout.splitlines()[0])
        result = run(*asked, "9000 s")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn(f" at {fits}, bounded by", result.stdout)

    def test_a_count_is_known_by_its_type(self):
        for key, low, high in (("step.context", 1000, 20000), ("model.layers", 1, 64),
                               ("system.gpus.count", 1, 8)):
            result = run("solve", MAPLE, "--set", "step.batch=8", "--vary", key, "--between", low, high,
                         "--metric", "kv_footprint_bytes", "--equals", "20 GB", "--json")
            self.assertIn(result.returncode, (0, 5), result.stderr)
            self.assertTrue(json.loads(result.stdout)["value"].isdigit(), result.stdout)

    def test_what_is_no_number_is_a_usage_error(self):
        for text in ("nan", "inf", "-inf", "0x1p3", "infinity", "1e999", ""):
            self.expect_failure(run(*self.QUESTION, "--equals=" + text), 2, "--equals")
            self.expect_failure(run(*self.QUESTION, "--equals", "1 s", "--times=" + text), 2, "--times")
        for text in ("0", "-1"):
            self.expect_failure(run(*self.QUESTION, "--equals", "1 s", "--times=" + text), 2,
                                "no number above 0")
        self.expect_failure(run(*self.QUESTION, "--equals", "9000 s", "--times", "1e305"), 2, "--times")

    def test_the_value_has_the_unit_of_its_metric(self):
        def asked(metric, value):
            return run(*self.QUESTION, "--metric", metric, "--equals", value)
        self.expect_failure(asked("tpot_s", "50 GB/s"), 2, "--equals: '50 GB/s' is a bandwidth",
                            "a duration is expected", "tpot_s")
        self.expect_failure(asked("tpot_s", "0.05"), 2, "--equals: ", "'0.05'", "ms")
        self.expect_failure(asked("kv_footprint_bytes", "1 s"), 2, "a size is expected")
        self.expect_failure(asked("energy_j_per_token", "1 W"), 2, "an energy is expected")
        self.expect_failure(asked("cost_usd_per_mtoken", "1"), 2, "USD")
        self.expect_failure(asked("throughput_tokens_per_s", "1 s"), 2, "'1 s' is no number",
                            "its unit is tokens/s")
        for value in ("64", "64 tokens/s"):
            self.assertIn("asked: 64)", asked("throughput_tokens_per_s", value).stdout)

    def test_mistakes(self):
        self.expect_failure(run(*self.QUESTION), 2, "either --equals or --equal-to")
        self.expect_failure(run(*self.QUESTION, "--maximize", "tpot"), 2, "--require: is missing")
        self.expect_failure(run(*self.QUESTION, "--require", "tpot<1s"), 2, "--maximize or --minimize")
        self.expect_failure(run(*self.QUESTION, "--require", "tpot=1s", "--maximize", "tpot"), 2, "is no goal")
        self.expect_failure(run(*self.QUESTION, "--require", "tpott<1s", "--maximize", "tpot"), 2,
                            "did you mean 'tpot'")
        self.expect_failure(run(*self.QUESTION, "--require", "tpot<1", "--maximize", "tpot"), 2, "'1'", "tpot_s")
        self.expect_failure(run(*self.QUESTION, "--require", "tpot<1s", "--maximize", "far"), 2, "--maximize: ")
        self.expect_failure(run(*self.QUESTION, "--equals", "soon"), 2, "'soon'")
        self.expect_failure(run(*self.QUESTION, "--metric", "tpots", "--equals", "1 s"), 2,
                            "did you mean 'tpot_s'")
        self.expect_failure(run("solve", MAPLE, "--vary", "step.batch", "--between", "9", "1",
                                "--equals", "1 s"), 2, "--between: '9' is not below '1'")
        self.expect_failure(run("solve", MAPLE, "--vary", "step.batch", "--between", "1.5", "9",
                                "--equals", "1 s"), 2, "'1.5' and '9' are not whole numbers")
        self.expect_failure(run("solve", MAPLE, "--vary", "step.batc", "--between", "1", "9",
                                "--equals", "1 s"), 3, "'batc'")
        self.expect_failure(run("solve", MAPLE, "--vary", "step.batch", "--between", "8000", "9000",
                                "--equals", "1 s"), 3, "at step.batch=8000: tier ",
                            "largest batch that fits is")
        self.expect_failure(run("solve", MAPLE, "--vary", "step.batch", "--between", "1", "9",
                                "--metric", "ttft_s", "--equals", "1 s"), 3, "no metric 'ttft_s'")


class Readme(InFolder):
    def test_its_output_is_what_the_program_prints(self):
        block = (SOURCE / "README.md").read_text().split("```text\n")[1].split("```")[0]
        printed = reproduced.printed("maple")
        for line in filter(None, block.splitlines()):
            self.assertIn(line, printed)

    def test_its_scenario_runs(self):
        block = (SOURCE / "README.md").read_text().split("```yaml\n")[1].split("```")[0]
        (self.folder / "my.yaml").write_text(block)
        result = run("run", self.folder / "my.yaml")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_its_question_has_an_answer(self):
        text = (SOURCE / "README.md").read_text()
        (self.folder / "my.yaml").write_text(text.split("```yaml\n")[1].split("```")[0])
        line = next(l for l in text.splitlines() if l.startswith("./tiersim solve my.yaml"))
        result = run(*shlex.split(line)[1:], cwd=self.folder)
        self.assertRegex(result.stdout, "^what_if.far_bandwidth = ", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
