"""`tiersim report curves, pareto, sensitivity` as a user runs them: PROGRAM SOURCE_FOLDER."""
import csv
import io
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

from program import NIGHTLY, PROGRAM, SOURCE, InFolder, run

SPEC = """
schema: tiersim.sweep/v1
name: methods
scenario: scenarios/maple/llama2_7b_maple.yaml
axes:
  - {key: step.context, values: [1024, 2048, 4096, 8192]}
  - {key: step.batch, values: [1, 8]}
  - name: method
    variants:
      - {label: MAPLE}
      - {label: dense HBM, scenario: scenarios/maple/llama2_7b_dense_hbm.yaml}
      - {label: dense pool, scenario: scenarios/maple/llama2_7b_dense_pool.yaml}
objectives: [{maximize: throughput}, {minimize: kv_footprint}]
subject_to: ["tpot < 1 s"]
"""
METHODS = ["dense_hbm", "dense_pool", "maple", "maple_guessed", "quest", "sparq", "loki", "h2o",
           "streaming_llm"]


def dominated(a, b):
    """True where b (rate, bytes) is at least as good in both and better in one."""
    return b[0] >= a[0] and b[1] <= a[1] and b != a


class OfAStore(InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "spec.yaml").write_text(SPEC)
        made = run("sweep", "spec.yaml", "-o", "points.db", cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)

    def report(self, *arguments, code=0):
        result = run("report", *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def values(self):
        """By label: (throughput, bytes, context, batch) of every point, by CSV of curves."""
        text = self.report("curves", "points.db", "--x", "context", "--format", "csv").stdout
        rate = {row["point"]: float(row["value"]) for row in csv.DictReader(io.StringIO(text))}
        text = self.report("curves", "points.db", "--x", "context", "--y", "kv_footprint",
                           "--format", "csv").stdout
        size = {row["point"]: float(row["value"]) for row in csv.DictReader(io.StringIO(text))}
        return {point: (rate[point], size[point]) for point in rate}

    def test_the_front_is_what_no_point_beats(self):
        points = self.values()
        self.assertEqual(len(points), 24)
        front = json.loads(self.report("pareto", "points.db", "--format", "json").stdout)
        expected = {p for p, v in points.items() if not any(dominated(v, w) for w in points.values())}
        self.assertEqual({str(p["position"]) for p in front["front"]}, expected)
        self.assertEqual(len(front["dominated"]) + len(front["front"]), 24)
        self.assertEqual(front["constraints"], ["tpot < 1 s"])
        self.assertGreater(front["hypervolume"], 0)
        self.assertLessEqual(front["hypervolume"], 1)
        for point in front["front"]:
            self.assertEqual(point["objectives"]["throughput_tokens_per_s"]["value"],
                             points[str(point["position"])][0])

    def test_a_point_of_the_front_runs_again_by_its_command(self):
        front = json.loads(self.report("pareto", "points.db", "--format", "json").stdout)
        point = front["front"][0]
        words = point["rerun"].split()
        self.assertEqual(words, ["tiersim", "rerun", f"points.db:{point['position']}"])
        again = run(*words[1:], cwd=self.folder)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_figures_are_drawings_that_parse(self):
        for kind, options in (("pareto", []), ("curves", ["--x", "context", "--panel", "batch"]),
                              ("sensitivity", ["--metric", "tpot"])):
            self.report(kind, "points.db", *options, "--figure", kind + ".svg")
            root = xml.parse(self.folder / (kind + ".svg")).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertNotIn("nan", (self.folder / (kind + ".svg")).read_text())
        self.report("pareto", "points.db", "--figure", "p.png", code=2)
        self.report("pareto", "points.db", "--figure", "missing/p.svg", code=2)

    def test_limits_are_dashed_lines_with_their_names(self):
        curves = ("curves", "points.db", "--x", "context", "--panel", "batch", "--y", "tpot", "--figure", "c.svg")
        self.assertIn("limit 1 s (the sweep is subject to 'tpot < 1 s')", self.report(*curves).stdout)
        drawing = (self.folder / "c.svg").read_text()
        self.assertEqual((drawing.count(">limit 1 s</text>"), drawing.count('stroke-dasharray="6 4"')), (2, 2))  # panels
        self.report(*curves, "--slo", "2 * 100 ms")
        drawing = (self.folder / "c.svg").read_text()
        self.assertEqual((drawing.count(">SLO 200 ms</text>"), drawing.count('stroke-dasharray="6 4"')), (2, 4))
        self.report("curves", "points.db", "--x", "context", "--panel", "batch", "--figure", "c.svg")
        self.assertNotIn("limit", (self.folder / "c.svg").read_text())
        for wrong in ("200", "1 GB", "context", "'"):
            self.assertIn("--slo: '", self.report(*curves, "--slo", wrong, code=2).stderr)

    def test_an_axis_moves_a_metric_by_its_range_with_the_others_held(self):
        found = json.loads(self.report("sensitivity", "points.db", "--metric", "throughput",
                                       "--format", "json").stdout)
        axes = {axis["axis"]: axis for axis in found["axes"]}
        self.assertEqual(set(axes), {"context", "batch", "method"})
        # 24 points: 6 groups over four contexts, 12 over two batches, 8 over three methods.
        self.assertEqual([axes[a]["groups"] for a in ("context", "batch", "method")], [6, 12, 8])
        means = [axis["mean_range"] for axis in found["axes"]]
        self.assertEqual(means, sorted(means, reverse=True))

    def test_one_more_unit_of_an_axis_is_the_slope_between_neighbours(self):
        text = self.report("marginal", "points.db", "--x", "context", "--metric", "tpot",
                           "--format", "json").stdout
        found = json.loads(text)
        self.assertEqual(found["x"], "context")
        self.assertEqual(len(found["lines"]), 6)  # 2 batches x 3 methods
        curves = json.loads(self.report("curves", "points.db", "--x", "context", "--y", "tpot",
                                        "--format", "json").stdout)
        for line, curve in zip(found["lines"], curves["lines"]):
            self.assertEqual(line["line"], curve["line"])
            self.assertEqual(line["change_unit"], "s per unit")
            self.assertEqual(len(line["steps"]), 3)
            for step, a, b in zip(line["steps"], curve["points"], curve["points"][1:]):
                self.assertAlmostEqual(step["per_unit"] * (b["x"] - a["x"]), b["value"] - a["value"])
        # Cost and energy without being asked, and the mistakes of a question.
        self.assertIn("cost_usd_per_mtoken: change with one more unit of context",
                      self.report("marginal", "points.db", "--x", "context").stdout)
        self.assertIn("over which column? (--x one of: context, batch)",
                      self.report("marginal", "points.db", code=2).stderr)
        self.assertIn("'method' is no numeric column",
                      self.report("marginal", "points.db", "--x", "method", code=2).stderr)
        self.assertIn("differ in batch", self.report("marginal", "points.db", "--x", "context",
                                                     "--by", "method", code=2).stderr)

    def test_a_front_says_what_it_mixes_and_leaves_out(self):
        front = json.loads(self.report("pareto", "points.db", "--format", "json").stdout)
        notes = " ".join(front["notes"])
        self.assertIn("points differ in context", notes)
        self.assertIn('--where "context == 1024"', notes)
        self.assertIn("--accuracy", notes)
        one = json.loads(self.report("pareto", "points.db", "--format", "json", "--where",
                                     "context == 1024 and method == 'MAPLE'").stdout)
        self.assertEqual(one["notes"], [])

    def test_what_cannot_be_drawn_is_said(self):
        for arguments, expected in (
                (["curves", "points.db"], "over which column? (--x one of: context, batch)"),
                (["curves", "points.db", "--x", "method"], "'method' is no numeric column"),
                (["curves", "points.db", "--x", "contxt"], "did you mean 'context'?"),
                (["curves", "points.db", "--x", "context", "--by", "method"], "which differ in batch"),
                (["curves", "points.db", "--x", "context", "--y", "thruput"], "--y: "),
                (["curves", "points.db", "--x", "context", "--y", "ttft.p99"], "no point has"),
                (["pareto", "points.db", "--objective", "throughput"], "maximize:throughput"),
                (["pareto", "points.db", "--figure", "-", "--by", "methd"],
                 "did you mean 'method'?"),
                (["sensitivity", "points.db", "--by", "2"], "--by: '2' is no share"),
                (["sensitivity", "points.db", "--vary", "step.batch=8"], "for one configuration"),
                (["pareto", "points.db", "--by", "method"], "--figure")):
            result = run("report", *arguments, cwd=self.folder)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(expected, result.stderr)


class OfManyPoints(InFolder):
    """Whole records of 5000 points would take at least 25 MB, 5 kB each."""

    def setUp(self):
        super().setUp()
        for name, budgets in (("many", 50), ("few", 2)):
            (self.folder / f"{name}.yaml").write_text(f"""
schema: tiersim.sweep/v1
name: {name}
scenario: scenarios/methods/llama3_8b_maple.yaml
reading: analytic
axes:
  - {{key: method.budget, range: {{from: 0.005, to: {budgets * 0.005:.3f}, step: 0.005}}}}
  - {{key: step.context, range: {{from: 1024, to: 102400, step: 1024}}}}
""")
            made = run("sweep", f"{name}.yaml", "-o", f"{name}.db", "-j2", cwd=self.folder)
            self.assertEqual(made.returncode, 0, made.stderr)

    def memory(self, *arguments):
        """Largest resident memory of a report, in bytes."""
        with subprocess.Popen([PROGRAM, "report", *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, arguments)
        return usage.ru_maxrss * 1024

    def test_reports_of_many_points_do_not_keep_their_records(self):
        for report in (("curves", "--x", "context", "--y", "bound"),
                       ("pareto", "--objective", "minimize:bound", "--objective", "minimize:far_load")):
            many, few = (self.memory(report[0], store, *report[1:], "--points", "100") for store in ("many.db", "few.db"))
            self.assertLess(many - few, 5_000_000, report)


class OfServers(InFolder):
    def test_limits_of_the_servers_are_in_the_curves(self):
        (self.folder / "spec.yaml").write_text("""
schema: tiersim.sweep/v1
name: rates
scenario: serving/llama3_8b_h100_poisson.yaml
axes:
  - {name: rate, key: workload.arrivals.requests_per_s, values: [1, 2]}
  - {key: workload.requests, values: [20]}
  - {key: measure.slo_ttft, values: [500 ms]}
subject_to: ["tpot.p99 < 50 ms", "tpot.mean < 40 ms"]
""")
        self.assertEqual(run("sweep", "spec.yaml", "-o", "rates.db", cwd=self.folder).returncode, 0)
        # The file of the server states slo_tpot: 50 ms, to which the sweep is subject, too.
        for metric, limits in (("ttft.p99", ["SLO 0.5"]), ("ttft.mean", ["SLO 0.5"]), ("tpot.p99", ["SLO 0.05"]),
                               ("tpot.mean", ["SLO 0.05", "limit 0.04"]), ("throughput", [])):
            made = run("report", "curves", "rates.db", "--x", "rate", "--y", metric, "--format", "json", cwd=self.folder)
            self.assertEqual([f"{limit['name']} {limit['value']:.9g}" for limit in json.loads(made.stdout)["limits"]], limits)


class OfConfigurations(InFolder):
    def path(self, method):
        return f"scenarios/methods/llama3_8b_{method}.yaml"

    def test_recall_stands_beside_speed_where_a_study_has_it(self):
        files = [str(SOURCE / "configs" / self.path(method)) for method in METHODS]
        files += ["--set", "uncertainty.draws=20"]  # intervals are not looked at
        result = run("report", "pareto", *files, "--accuracy", "--all", "--objective",
                     "maximize:throughput", "--format", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        recall = {}
        for row in rows:
            column = next(name for name in row if name.startswith("recall_at_budget"))
            recall[row["configuration"]] = (float(row[column]), row["recall is of"])
        # A guessed query is in no study: its point is not compared.
        self.assertEqual(len(rows), len(METHODS) - 1)
        self.assertEqual(recall["llama3-8b dense, HBM"], (1.0, "every row, exact"))
        # As printed by `tiersim numerics maple` at a sixteenth of the rows.
        self.assertAlmostEqual(recall["llama3-8b MAPLE"][0], 0.3184, delta=0.00005)
        self.assertAlmostEqual(recall["llama3-8b Quest"][0], 0.2324, delta=0.00005)
        self.assertIn("rank 16", recall["llama3-8b MAPLE"][1])
        text = run("report", "pareto", *files, "--accuracy", "--objective",
                   "maximize:throughput").stdout
        self.assertIn("synthetic heads", text)
        self.assertIn("no accuracy of a trained model", " ".join(text.split()))
        self.assertIn("its guessed queries are not in it", " ".join(text.split()))

    def test_a_tornado_is_what_running_with_the_moved_value_gives(self):
        file = str(SOURCE / "configs" / self.path("maple"))
        # The numbers of a calibration are most of those that are moved.
        fits = () if NIGHTLY else ("--set", "system.gpu.calibration=none")
        result = run("report", "sensitivity", file, "--metric", "tpot", "--by", "10%", "--vary",
                     "step.batch=16", "--format", "json", *fits)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        rows = found["parameters"]
        spans = [row["span"] for row in rows if row["low"]["metric"] is not None]
        self.assertEqual(spans, sorted(spans, reverse=True))
        self.assertGreater(found["no_effect"], 0)
        names = {row["parameter"]: row for row in rows}
        self.assertIn("what_if.far_bandwidth", names)
        granule = names["system.tiers.hbm.memory.interleave"]  # of 256 B, not 205 B or 307 B
        self.assertEqual((granule["low"]["value"], granule["high"]["value"]), ("128 B", "512 B"))
        batch = names["step.batch"]
        self.assertEqual((batch["low"]["value"], batch["high"]["value"]), ("14", "18"))
        self.assertEqual(names["system.tiers.hbm.memory.read_efficiency"]["high"]["value"], "1")
        for row in (rows[0], names["what_if.far_bandwidth"], batch):
            for end in (row["low"], row["high"]):
                again = run("run", file, "--json", *fits, "--set", f"{row['parameter']}={end['value']}")
                value = json.loads(again.stdout)["results"]["metrics"]["tpot_s"]["value"]
                self.assertEqual(value, end["metric"], row["parameter"])

    def test_a_record_cannot_be_varied(self):
        file = str(SOURCE / "configs" / self.path("maple"))
        (self.folder / "record.json").write_text(run("run", file, "--json").stdout)
        result = run("report", "sensitivity", "record.json", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("a record, which cannot be varied", result.stderr)

    def test_mistakes_of_the_configuration_are_listed(self):
        file = str(SOURCE / "configs" / self.path("maple"))
        result = run("report", "sensitivity", file, "--set", "step.batch=-1")
        self.assertEqual(result.returncode, 3)
        self.assertIn("step.batch", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
