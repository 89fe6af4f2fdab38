"""`tiersim predict` and `tiersim validate`: predict_test.py PROGRAM SOURCE_FOLDER."""
import json
import re
import sys
import unittest

from program import SOURCE, InFolder, run

QUESTIONS = SOURCE / "configs/predictions/h200.yaml"
EXAMPLE = SOURCE / "configs/calibration/synthetic/2026-01-01-example"
CAMPAIGN = SOURCE / "configs/calibration/h200/2026-11-27-796cdf1"


class Predict(InFolder):
    def test_the_predictions_on_record_are_what_it_prints(self):
        result = run("predict", QUESTIONS, "-o", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, (SOURCE / "reports/targets/h200_predictions.yaml").read_text())

    def test_people_and_programs_get_the_same_answers(self):
        table = run("predict", QUESTIONS).stdout
        answers = json.loads(run("predict", QUESTIONS, "--json").stdout)["predictions"]
        self.assertEqual(len(answers), 7)
        for answer in answers:
            low, high = answer["ci95"]
            self.assertTrue(low <= answer["simulated"] <= high, answer["id"])
            self.assertRegex(table, rf"(?m)^{answer['id']} .*{answer['status']}$")

    def test_every_question_is_printed_once_below_the_ids(self):
        table = run("predict", QUESTIONS).stdout
        self.assertRegex(table, r"(?m)^id +simulated ")
        self.assertIn("not that of the models", table)
        for answer in json.loads(run("predict", QUESTIONS, "--json").stdout)["predictions"]:
            self.assertEqual(table.count(f"{answer['id']}: {answer['question']}\n"), 1)

    def test_timings_give_the_measured_values_beside_them(self):
        timings = [word for name in ("ceilings", "timing") for word in ("--timings", CAMPAIGN / f"{name}.json")]
        table = run("predict", QUESTIONS, *timings).stdout
        self.assertRegex(table, r"(?m)^id .* measured$")
        answers = json.loads(run("predict", QUESTIONS, *timings, "--json").stdout)["predictions"]
        measured = {answer["id"]: answer["measured"] for answer in answers}
        times = {case["case"]: case for case in json.loads((CAMPAIGN / "timing.json").read_text())["benchmarks"]
                 if case["temperature"] == "cold"}
        self.assertNotIn("screening.maple_screen.r32-u16.b16-h32-s8192-k2048", times)
        self.assertIsNone(measured["maple.screen_share"])
        self.assertEqual(re.findall(r"not timed: (.*)", table), ["screening.maple_screen.r32-u16.b16-h32-s8192-k2048"])
        gather = times["host_gather.gather.loads.row256b.512mb.blocks64"]["real_time"]
        self.assertAlmostEqual(measured["maple.host_loads.row256"], 2 ** 29 / gather, delta=0.05)
        self.assertTrue(1.1 < measured["tpla.attention_ratio.b64_s32k"] < 1.45)
        self.assertLess(measured["early_exit.softmax.b1"], 1)
        for answer in answers:
            shown = "-" if answer["measured"] is None else f"{answer['measured']:.4g}"
            self.assertRegex(table, rf"(?m)^{answer['id']} .* {re.escape(shown)}$")

    def test_only_measured_times_are_called_measured(self):
        made_up = run("predict", QUESTIONS, "--timings", EXAMPLE / "timings.csv")
        self.assertEqual(made_up.returncode, 0, made_up.stderr)
        self.assertRegex(made_up.stdout, r"(?m)^id .* synthetic$")
        self.assertNotIn("measured", made_up.stdout.splitlines()[1])
        dry = json.loads((CAMPAIGN / "timing.json").read_text())
        dry["context"]["class"] = "none"
        dry["context"]["device"]["kind"] = "emulator"
        (self.folder / "dry.json").write_text(json.dumps(dry))
        self.expect_failure(run("predict", QUESTIONS, "--timings", self.folder / "dry.json"), 3, "dry run")

    def test_without_an_interval_there_is_a_dash(self):
        numbers = ("gpu.efficiency=0.8", "gpu.launch=2 us", "sm.to_gpu=35.2 GB/s",
                   "tiers.hbm.memory.read_efficiency=0.92", "links.pcie.latency=1170 ns")
        settings = [word for number in numbers for word in ("--set", f"system.{number}")]
        table = run("predict", QUESTIONS, *settings).stdout
        self.assertEqual(len(re.findall(r"(?m)^[a-z0-9_.]+  +[0-9.]+ +- ", table)), 7, table)
        self.assertIn("No interval: no number of the system has one.", table)

    def test_the_example_is_predicted_again(self):
        out = self.folder / "p.json"
        result = run("predict", "--plan", EXAMPLE / "plan.json", "--timings",
                     EXAMPLE / "timings.csv", "--date", "2026-01-02", "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("synthetic", result.stdout)
        made = json.loads(out.read_text())
        shipped = json.loads((EXAMPLE / "predictions.json").read_text())
        self.assertEqual(len(made["predictions"]), 24)
        for one, other in zip(made["predictions"], shipped["predictions"], strict=True):
            self.assertEqual(one["name"], other["name"])
            for key in ("median_ns", "low_ns", "high_ns"):  # written with six digits
                self.assertAlmostEqual(one[key] / other[key], 1, delta=1e-5)

    def test_timings_that_cannot_be_are_refused(self):
        impossible = self.folder / "t.csv"
        lines = (EXAMPLE / "timings.csv").read_text().splitlines()
        cells = lines[-1].split(",")
        cells[-3:] = ["1", "1", "1"]  # 1 GB in 1 us
        impossible.write_text("\n".join([*lines[:-1], ",".join(cells)]) + "\n")
        self.expect_failure(run("predict", "--plan", EXAMPLE / "plan.json", "--timings", impossible),
                            3, "above the peak", "nothing is predicted")

    def test_it_says_what_it_needs(self):
        plan = EXAMPLE / "plan.json"
        self.expect_failure(run("predict"), 2, "either SET or --plan PLAN is needed")
        self.expect_failure(run("predict", QUESTIONS, "--plan", plan), 2, "SET and --plan PLAN exclude each other")
        self.expect_failure(run("predict", "--plan", plan), 2, "--plan needs --timings")
        self.expect_failure(run("predict", QUESTIONS, "--date", "2026-01-01"), 2, "--date goes with --plan")
        timed = ("predict", "--plan", plan, "--timings", EXAMPLE / "timings.csv")
        self.expect_failure(run(*timed, "--set", "a=b"), 2, "--set goes with SET")
        self.expect_failure(run(*timed, "--date", "today"), 2, "--date 'today': is no date")

    def test_timings_of_another_build_are_refused(self):
        other = self.folder / "t.csv"
        other.write_text((EXAMPLE / "timings.csv").read_text().replace("build: example", "build: b"))
        self.expect_failure(run("predict", "--plan", EXAMPLE / "plan.json", "--timings", other), 3,
                            "is of build 'example', the timings of 'b'")

    def test_mistakes_of_a_set_are_named_with_their_place(self):
        wrong = self.folder / "set.yaml"
        text = QUESTIONS.read_text().replace("../systems", str(SOURCE / "configs/systems"))
        wrong.write_text(text.replace("{kernel: maple_screen}]", "{kernel: maple_scren}]")
                         .replace('date: "2026-11-21"', 'date: "today"'))
        self.expect_failure(run("predict", wrong), 3, "'today' is no date",
                            "no kernel is named 'maple_scren' (did you mean 'maple_screen'?)")


class Validate(InFolder):
    def edited(self, name, before, after):
        text = (EXAMPLE / name).read_text()
        self.assertIn(before, text)
        path = self.folder / name
        path.write_text(text.replace(before, after))
        return path

    def test_without_files_it_scores_the_example(self):
        result = run("validate")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("made-up times", result.stdout)
        self.assertNotIn("measured (", result.stdout)
        for by in ("predictions", "data-sheet roofline", "sum of kernel medians"):
            self.assertRegex(result.stdout, rf"(?m)^{by} +24 ")

    def test_json_holds_every_case_and_the_summary(self):
        result = json.loads(run("validate", "--json").stdout)
        self.assertEqual(len(result["cases"]), 24)
        case = result["cases"][0]
        self.assertEqual(set(case), {"id", "level", "predicted", "reference", "unit", "error",
                                     "band", "noise", "status"})
        self.assertAlmostEqual(case["error"], case["predicted"] / case["reference"] - 1)
        covered = [c["band"][0] <= c["reference"] <= c["band"][1] for c in result["cases"]]
        self.assertEqual(result["summary"]["coverage"], sum(covered) / 24)
        self.assertEqual(result["summary"]["class"], "synthetic")

    def test_a_missed_goal_is_exit_code_5(self):
        for goal in (("--max-median", "0.001"), ("--min-coverage", "1")):
            result = run("validate", *goal)
            self.assertEqual(result.returncode, 5)
            self.assertIn("%", result.stderr)
        result = run("validate", "--max-median", "0.1", "--min-coverage", "0.5")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_goal_is_a_share(self):
        for goal in ("--max-median", "--min-coverage"):
            for value in ("nan", "inf", "-1", "1e4", "x"):
                result = run("validate", goal, value)
                self.expect_failure(result, 2, goal, f"'{value}' is no number from 0 to 1")
                self.assertLess(len(result.stderr), 300)

    def test_what_is_in_one_file_only_is_named(self):
        predictions = self.edited("predictions.json", '"chain.3"', '"chain.x"')
        result = run("validate", predictions, EXAMPLE / "measured.csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("predicted, not measured: chain.x", result.stdout)
        self.assertIn("measured, not predicted: chain.3", result.stdout)
        summary = json.loads(run("validate", predictions, EXAMPLE / "measured.csv", "--json").stdout)
        self.assertEqual(summary["summary"]["only_predicted"], ["chain.x"])

    def test_late_predictions_other_builds_and_dry_runs_are_refused(self):
        measured = EXAMPLE / "measured.csv"
        late = self.edited("predictions.json", "2026-01-02", "2026-01-04")
        self.expect_failure(run("validate", late, measured), 3, "after the measurement of 2026-01-03")
        other = self.edited("predictions.json", '"example"', '"other"')
        self.expect_failure(run("validate", other, measured), 3, "is of build 'other'")
        dry = self.edited("measured.csv", "class: synthetic", "class: none")
        self.expect_failure(run("validate", EXAMPLE / "predictions.json", dry), 3,
                            "nothing was measured")

    def test_a_missing_file_is_a_usage_error(self):
        self.expect_failure(run("validate", EXAMPLE / "predictions.json"), 2, "MEASURED is missing")
        self.expect_failure(run("validate", "none.json", "none.csv"), 2, "cannot read 'none.json'")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
