"""`tiersim sweep` and `merge` as a user runs them: sweep_test.py PROGRAM SOURCE_FOLDER. Stores are
compared byte for byte; what is killed is killed by SIGKILL."""
import contextlib
import functools
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from program import NIGHTLY, PROGRAM, InFolder, run

SPEC = """
schema: tiersim.sweep/v1
name: contexts
scenario: scenarios/maple/llama2_7b_maple.yaml
axes:
  - {key: step.context, range: {from: 1024, to: %d, step: 256}}
  - {key: step.batch, values: [1, 2, 4, 16]}
  - name: method
    variants:
      - {label: MAPLE}
      - {label: dense, scenario: scenarios/maple/llama2_7b_dense_pool.yaml}
filter: ["context * batch <= 262144"]
objectives: [{maximize: throughput}, {minimize: tpot}]
"""

BREAK_EVEN = """
schema: tiersim.sweep/v1
name: break-even
scenario: scenarios/methods/llama3_8b_maple.yaml
set: [uncertainty.draws=20, step.batch=4]
reading: all
axes:
  - {key: step.context, values: [8192, 16384]}
  - {name: machine, variants: [{label: as it is}, {label: four times, set: [what_if.far_bandwidth=4]}]}
break_even:
  {axis: machine, against: {as it is: four times}, key: what_if.far_bandwidth, between: [0.1, 10], maximize: throughput}
objectives: [{maximize: throughput}]
summary: {best: machine, by: [context]}
"""


def spec(folder, contexts=64, text=SPEC):
    path = folder / "spec.yaml"
    path.write_text(text % (1024 + 256 * (contexts - 1)) if "%d" in text else text)
    return path


def rows(store, sql="SELECT count(*) FROM points", mode="ro"):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode={mode}", uri=True, timeout=30)) as connection:
        return connection.execute(sql).fetchall()


@functools.cache
def store_of_all():
    """The store of SPEC's 506 points."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        result = run("sweep", spec(folder), "-o", "a.db", "-j2", cwd=folder)
        assert result.returncode == 0, result.stderr
        return (folder / "a.db").read_bytes()


class Sweep(InFolder):
    def sweep(self, *arguments, code=0, **options):
        result = run("sweep", self.spec, *arguments, cwd=self.folder, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def setUp(self):
        super().setUp()
        self.spec = spec(self.folder)

    def wait_for(self, store, process):
        while not store.exists() or store.stat().st_size == 0:
            self.assertIsNone(process.poll(), "it ended without a store")
            time.sleep(0.01)

    def test_stores_are_the_same_bytes_for_any_number_of_threads_and_shards(self):
        self.spec = spec(self.folder, contexts=24)
        self.sweep("-o", "one.db", "-j1")
        self.sweep("-o", "two.db", "-j2")
        for i in (3, 1, 2):
            self.sweep("-o", f"part{i}.db", "--shard", f"{i}/3", "-j2")
        merged = run("merge", "part1.db", "part3.db", "part2.db", "-o", "merged.db", cwd=self.folder)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        one = (self.folder / "one.db").read_bytes()
        self.assertEqual(one, (self.folder / "two.db").read_bytes())
        self.assertEqual(one, (self.folder / "merged.db").read_bytes())
        self.assertEqual(rows(self.folder / "one.db"), [(192,)])
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["merged.db", "one.db", "part1.db", "part2.db", "part3.db", "spec.yaml", "two.db"])

    def test_answers_of_break_even_are_the_same_bytes_for_any_number_of_threads_and_shards(self):
        self.spec = spec(self.folder, text=BREAK_EVEN)
        self.sweep("-o", "one.db", "-j1")
        self.sweep("-o", "two.db", "-j2")
        for i in (2, 1):
            self.sweep("-o", f"part{i}.db", "--shard", f"{i}/2")
        merged = run("merge", "part1.db", "part2.db", "-o", "merged.db", cwd=self.folder)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        one = (self.folder / "one.db").read_bytes()
        self.assertEqual(one, (self.folder / "two.db").read_bytes())
        self.assertEqual(one, (self.folder / "merged.db").read_bytes())
        answers = [json.loads(answer) for (answer,) in rows(
            self.folder / "one.db", "SELECT answer FROM points WHERE answer IS NOT NULL ORDER BY position")]
        self.assertEqual([answer["outcome"] for answer in answers], ["found", "found"])
        for answer in answers:  # the reference differs in the searched setting alone
            self.assertAlmostEqual(answer["value"], 4, places=3)
        page = run("report", "html", "one.db", "--still", "-o", "page.html", cwd=self.folder)
        self.assertEqual(page.returncode, 0, page.stderr)
        text = (self.folder / "page.html").read_text()
        self.assertIn("Best machine", text)
        self.assertIn("as it is against four times", text)

    def test_a_lost_shard_is_made_up_for_by_resuming_what_was_merged(self):
        self.spec = spec(self.folder, contexts=24)
        self.sweep("-o", "whole.db")
        for i in (1, 3):
            self.sweep("-o", f"part{i}.db", "--shard", f"{i}/3")
        merged = run("merge", "part1.db", "part3.db", "-o", "merged.db", cwd=self.folder)
        self.assertIn("--resume -o merged.db", merged.stderr)
        self.assertIn("128 of 192 points", merged.stdout)
        self.sweep("--resume", "-o", "merged.db")
        self.assertEqual((self.folder / "whole.db").read_bytes(), (self.folder / "merged.db").read_bytes())

    def test_kills_lose_no_finished_point_and_resuming_gives_the_same_bytes(self):
        self.spec = spec(self.folder, contexts=150)
        began = time.monotonic()
        self.sweep("-o", "whole.db", "-j2")
        whole = time.monotonic() - began
        store = self.folder / "killed.db"
        seed = random.randrange(2**32)
        print(f"seed {seed}")
        dice = random.Random(seed)
        kills = lost = 0
        rounds = 20 if NIGHTLY else 10
        for _ in range(rounds):
            process = subprocess.Popen([PROGRAM, "sweep", str(self.spec), "--resume", "-o", "killed.db", "-j2"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + dice.uniform(0.02, 0.2) * max(whole, 0.2)
            finished = set()
            while time.monotonic() < deadline and process.poll() is None:
                try:
                    finished = set(rows(store, "SELECT position FROM points"))
                except sqlite3.Error:
                    pass  # not there yet, or just being replaced
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
            if store.exists():
                try:  # rw: a transaction that the kill left half done is rolled back, as by --resume
                    kept = set(rows(store, "SELECT position FROM points", "rw"))
                except sqlite3.OperationalError as error:
                    self.assertIn("no such table", str(error))
                    kept = set()
                lost += len(finished - kept)
                self.assertEqual(rows(store, "PRAGMA integrity_check"), [("ok",)])
        self.assertGreater(kills, rounds / 4)
        self.assertEqual(lost, 0)
        self.sweep("--resume", "-o", "killed.db", "-j1")
        self.assertEqual(store.read_bytes(), (self.folder / "whole.db").read_bytes())

    def test_interruption_finishes_what_is_in_flight_and_says_how_to_go_on(self):
        self.spec = spec(self.folder, contexts=250)
        process = subprocess.Popen([PROGRAM, "sweep", str(self.spec), "-o", "a.db", "-j2"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.folder / "a.db").exists() or not self.points("a.db"):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume", err)
        self.assertIn("-o a.db", err)
        self.assertRegex(out, r"contexts: \d+ of \d+ points")
        done = self.points("a.db")
        again = self.sweep("-o", "a.db", code=2)
        self.assertIn(f"has {done} points of this sweep already; --resume goes on with it", again.stderr)
        summary = json.loads(self.sweep("-o", "a.db", "--resume", "--json").stdout)
        self.assertEqual((summary["before"], summary["complete"]), (done, True))

    def points(self, name):
        try:
            return rows(self.folder / name)[0][0]
        except sqlite3.Error:
            return 0

    def test_a_point_of_any_sweep_is_not_run_again(self):
        (self.folder / "a.db").write_bytes(store_of_all())
        self.spec.write_text(self.spec.read_text().replace("name: contexts", "name: others"))
        self.sweep("-o", "a.db")
        self.assertEqual(rows(self.folder / "a.db", "SELECT count(*) FROM points"), [(1012,)])
        self.assertEqual(rows(self.folder / "a.db", "SELECT count(*) FROM results"), [(506,)])

    def test_inputs_are_those_of_when_the_sweep_began(self):
        scenario = self.folder / "my.yaml"
        scenario.write_text("schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_maple.yaml\n")
        self.spec.write_text("schema: tiersim.sweep/v1\nname: mine\nscenario: my.yaml\n"
                             "axes: [{key: step.context, values: [1024, 2048, 4096]}]\n")
        self.sweep("-o", "whole.db")
        self.sweep("-o", "a.db", "--shard", "1/3")
        scenario.write_text(scenario.read_text() + "step: {batch: 2}\n")
        resumed = self.sweep("-o", "a.db", "--resume")
        self.assertIn("it goes on with the files as they were", resumed.stderr)
        self.assertEqual((self.folder / "a.db").read_bytes(), (self.folder / "whole.db").read_bytes())
        self.sweep("-o", "a.db")  # begins anew with the file as it is
        self.assertEqual(rows(self.folder / "a.db", "SELECT count(*) FROM sweeps"), [(2,)])

    def test_a_sweep_goes_on_when_its_scenario_is_gone(self):
        scenario = self.folder / "my.yaml"
        scenario.write_text("schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_maple.yaml\n")
        # The range ends between two steps: 1, 4, 7, 10 need the knowledge that batch is a count.
        self.spec.write_text("schema: tiersim.sweep/v1\nname: mine\nscenario: my.yaml\n"
                             "axes: [{key: step.context, values: [1024, 2048, 4096]},\n"
                             "       {key: step.batch, range: {from: 1, to: 10, points: 4}}]\n")
        self.sweep("-o", "whole.db")
        self.sweep("-o", "a.db", "--shard", "1/3")
        scenario.unlink()
        self.assertIn("there is no file 'my.yaml'", self.sweep("-o", "b.db", "--resume", code=3).stderr)
        self.assertIn("there is no file 'my.yaml'", self.sweep("-o", "a.db", code=3).stderr)
        resumed = self.sweep("-o", "a.db", "--resume")
        self.assertIn("a file of this sweep is gone", resumed.stderr)
        self.assertEqual((self.folder / "a.db").read_bytes(), (self.folder / "whole.db").read_bytes())
        again = run("rerun", "a.db:3", cwd=self.folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("same results", again.stdout + again.stderr)
        self.assertIn("none was left to run", self.sweep("-o", "a.db", "--resume").stdout)
        # Another SPEC has no finished points to resume from.
        self.spec.write_text(self.spec.read_text().replace("to: 10", "to: 13"))
        self.sweep("-o", "a.db", "--resume", code=3)

    def test_a_search_goes_on_when_its_scenario_is_gone(self):
        scenario = self.folder / "my.yaml"
        scenario.write_text("schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_maple.yaml\n")
        self.spec.write_text("schema: tiersim.sweep/v1\nname: mine\nscenario: my.yaml\n"
                             "axes: [{key: step.context, range: {from: 1024, to: 65536, step: 512}}]\n"
                             "search: {budget: 20, start: 8, generation: 4}\n"
                             "objectives: [{maximize: throughput}]\n")
        self.sweep("-o", "a.db")
        whole = (self.folder / "a.db").read_bytes()
        scenario.unlink()
        self.assertIn("none was left to run", self.sweep("-o", "a.db", "--resume").stdout)
        self.assertEqual((self.folder / "a.db").read_bytes(), whole)

    def test_one_store_by_two_names_has_one_writer(self):
        for name, link in (("soft.db", os.symlink), ("hard.db", os.link)):
            with self.subTest(name):
                store = self.folder / f"of_{name}"
                first = subprocess.Popen([PROGRAM, "sweep", str(spec(self.folder, 4000)), "-o", str(store), "-j1"],
                                         cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    self.wait_for(store, first)
                    link(store, self.folder / name)
                    second = self.sweep("-o", name, code=2)
                    self.assertIn("another process is writing", second.stderr)
                finally:
                    first.send_signal(signal.SIGINT)
                    first.wait()
                self.assertFalse(list(self.folder.glob("*.lock")))

    def test_a_damaged_store_is_told_by_its_row_and_passed_on_by_nobody(self):
        for sql, row in (("UPDATE inputs SET text = substr(text, 1, 40)", "the input"),
                         ("UPDATE sweeps SET columns = '[{'", "sweep 1"),
                         ("UPDATE points SET labels = '[' WHERE position = 3", "point 3 of sweep 1"),
                         ("UPDATE results SET results = replace(results, '0', '1') WHERE rowid = 7", "the result of")):
            self.spec = spec(self.folder, contexts=4)
            with self.subTest(sql):
                self.sweep("-o", "a.db", "-j2")
                with contextlib.closing(sqlite3.connect(self.folder / "a.db")) as connection:
                    connection.execute(sql)
                    connection.commit()
                for command in (["sweep", self.spec, "-o", "a.db", "--resume"], ["merge", "a.db", "-o", "b.db"],
                                ["sweep", self.spec, "-o", "a.db"]):
                    result = run(*command, cwd=self.folder)
                    self.assertEqual(result.returncode, 3, result.stderr)
                    self.assertIn(f"a.db: {row}", result.stderr)
                    self.assertIn("is damaged", result.stderr)
                    self.assertFalse((self.folder / "b.db").exists())
                (self.folder / "a.db").unlink()

    def test_a_store_that_is_moved_away_is_told(self):
        self.spec = spec(self.folder, 1000)
        process = subprocess.Popen([PROGRAM, "sweep", str(self.spec), "-o", "a.db", "-j1"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        store = self.folder / "a.db"
        self.wait_for(store, process)
        store.rename(self.folder / "b.db")
        _, told = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 2, told)
        self.assertIn("'a.db' was moved or removed", told)

    def test_a_store_has_a_name(self):
        self.assertIn("a name is needed", self.sweep("-o", "", code=2).stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_failed_points_are_rows_and_can_be_tried_again(self):
        self.spec.write_text("schema: tiersim.sweep/v1\nname: tp\nscenario: scenarios/tpla/deepseek_v3_tpla.yaml\n"
                             "axes: [{key: parallel.tensor, values: [2, 3]}, {key: step.context, values: [1024, 2048]}]\n")
        result = self.sweep("-o", "a.db", code=4)
        self.assertRegex(result.stderr, r"point 2 \(tensor=3, context=1024\): .*parallel")
        self.assertEqual(rows(self.folder / "a.db", "SELECT status, count(*) FROM results GROUP BY status ORDER BY 1"),
                         [("error", 2), ("ok", 2)])
        before = (self.folder / "a.db").read_bytes()
        summary = json.loads(self.sweep("-o", "a.db", "--resume", "--json", code=4).stdout)
        self.assertEqual((summary["before"], summary["failed"]), (4, 2))
        summary = json.loads(self.sweep("-o", "a.db", "--retry-failed", "--json", code=4).stdout)
        self.assertEqual((summary["before"], summary["failed"]), (2, 2))
        self.assertEqual(before, (self.folder / "a.db").read_bytes())
        self.spec.write_text(self.spec.read_text().replace("[2, 3]", "[3, 2]").replace(
            "values: [1024, 2048]", "range: {from: 1024, to: 65536, step: 64}"))
        fast = json.loads(self.sweep("-o", "b.db", "--fail-fast", "-j1", "--json", code=4).stdout)
        self.assertFalse(fast["complete"])

    def test_what_does_not_fit_is_an_answer(self):
        self.spec.write_text("schema: tiersim.sweep/v1\nname: large\nscenario: scenarios/maple/llama2_7b_dense_hbm.yaml\n"
                             "axes: [{key: step.context, values: [1024, 1048576]}]\n")
        summary = json.loads(self.sweep("-o", "a.db", "--json").stdout)
        self.assertEqual((summary["ok"], summary["infeasible"], summary["failed"]), (1, 1, 0))

    def test_a_page_of_a_part_of_the_points_says_so_and_has_the_front_and_the_extremes_of_all(self):
        (self.folder / "a.db").write_bytes(store_of_all())

        def page(*options):
            made = run("report", "html", "a.db", "-o", "page.html", "--still", *options, cwd=self.folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            text = (self.folder / "page.html").read_text()
            data = json.loads(re.search(r'<script type="application/json" id="points-data">(.*?)</script>', text, re.S)[1])
            data["at"] = data.get("positions", list(range(data["points"])))
            return text, data

        def values(metric, data):
            every = metric["values"]
            return [v for v in (every if isinstance(every, list) else [every] * data["points"]) if v is not None]

        _, whole = page()
        self.assertNotIn("whole", whole)
        text, part = page("--points", "100")
        self.assertEqual((part["whole"], whole["points"]), (506, 506))
        self.assertLess(part["points"], 250)  # about 100, the front, and two a metric and axis
        self.assertIn("of which this page has", text)
        self.assertRegex(text, r"those at \d+ of the 64 values of context")
        self.assertIn("<dd>506</dd>", text)
        self.assertEqual(sorted(part["at"][p] for p in part["front"]), sorted(whole["front"]))
        ends = lambda data: {m["name"]: (min(values(m, data)), max(values(m, data))) for m in data["metrics"]}
        self.assertEqual(ends(part), ends(whole))
        # Lines over contexts are whole where batch and method are fixed: the kept contexts of each.
        self.assertLess(len(part["columns"][0]["labels"]), 64)
        again, _ = page("--points", "100")
        self.assertEqual(text, again)
        bound = run("report", "html", "a.db", "-o", "page.html", "--points", "100", "--where", "context <= 2048", cwd=self.folder)
        self.assertEqual(bound.returncode, 0, bound.stderr)

    def test_a_front_of_a_part_of_the_points_has_the_numbers_of_all(self):
        (self.folder / "a.db").write_bytes(store_of_all())

        def front(*options):
            made = run("report", "pareto", "a.db", *options, cwd=self.folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            return made.stdout

        goals = ("--objective", "maximize:throughput", "--objective", "minimize:kv_footprint")
        for options in ((), goals, ("--where", "batch > 1")):
            self.assertEqual(front(*options, "--points", "100"), front(*options), options)
            part, whole = (json.loads(front("--format", "json", *options, *more)) for more in (("--points", "100"), ()))
            self.assertEqual(set(whole) - set(part), {"dominated", "unacceptable", "without_value"})
            self.assertEqual(part, {key: whole[key] for key in part})
            self.assertEqual(whole["counts"]["compared"], len(whole["front"]) + len(whole["dominated"]))
        front("--points", "100", "--figure", "part.svg")
        drawing = (self.folder / "part.svg").read_text()
        self.assertRegex(re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", drawing)), r"full: \d+ of 506 points.* hollow: \d+ of the others")

    def test_curves_of_a_part_of_the_points_are_whole_lines(self):
        (self.folder / "a.db").write_bytes(store_of_all())

        def lines(*options):
            made = run("report", "curves", "a.db", "--x", "context", "--format", "json", *options, cwd=self.folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            curves = json.loads(made.stdout)
            return made.stderr, curves, {line["line"]: {p["x"]: p for p in line["points"]} for line in curves["lines"]}

        told, curves, whole = lines()
        self.assertNotIn("part", curves)
        self.assertEqual(told, "")
        told, curves, part = lines("--points", "100")
        self.assertEqual(curves["part"]["of"], 506)
        self.assertRegex(told, r"^tiersim: \d+ of 506 points are used: those at \d+ of the 64 values of context \(--points N")
        self.assertEqual(set(part), set(whole))
        places = set().union(*part.values())
        self.assertLess(len(places), 64)
        for name, points in part.items():
            self.assertEqual(points, {x: whole[name][x] for x in places if x in whole[name]})

    def test_dry_run_counts_and_writes_nothing(self):
        text = self.sweep("--dry-run").stdout
        self.assertRegex(text, r"contexts: 506 points, about [0-9.]+ (s|min)")
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])
        part = json.loads(self.sweep("--dry-run", "--json", "--shard", "2/3").stdout)
        self.assertGreaterEqual(part["points_timed"], 12)
        self.assertGreater(part["seconds_estimated"], 0)
        self.assertEqual(part["points"], 169)
        self.assertEqual(part["first"][0]["labels"], {"context": 1024, "batch": 1, "method": "dense"})

    def test_a_search_chooses_the_same_points_at_any_number_of_threads_and_after_a_kill(self):
        self.spec.write_text((SPEC % 65536).replace("filter", "search: {budget: 60, start: 12, generation: 8}\nfilter"))
        self.sweep("-o", "one.db", "-j1")
        self.sweep("-o", "two.db", "-j2")
        one = (self.folder / "one.db").read_bytes()
        self.assertEqual(one, (self.folder / "two.db").read_bytes())
        self.assertEqual(rows(self.folder / "one.db"), [(60,)])
        process = subprocess.Popen([PROGRAM, "sweep", str(self.spec), "-o", "killed.db", "-j1"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.points("killed.db") < 20 and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        process.wait()
        self.sweep("-o", "killed.db", "--resume")
        self.assertEqual(one, (self.folder / "killed.db").read_bytes())
        self.assertIn("cannot be split", self.sweep("--shard", "1/2", code=2).stderr)

    def test_usage_mistakes(self):
        for arguments, text in (
                (("--shard", "0/3"), "'0/3' is no part of a whole"),
                (("--shard", "4/3"), "'4/3' is no part of a whole"),
                (("--fail-fast", "--keep-going"), "--keep-going"),
                (("-j", "0"), "--threads"),
                (("-o", "no/such/a.db"), "there is no folder 'no/such'"),
                (("-o", "spec.yaml"), "spec.yaml")):
            with self.subTest(arguments):
                self.expect_failure(run("sweep", self.spec, *arguments, cwd=self.folder), 2, text)
        self.assertIn("schema", self.spec.read_text())  # as it was
        self.expect_failure(run("merge", self.spec, "-o", "a.db", cwd=self.folder), 2, "is no store")
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])

    def test_rerun_gives_the_results_of_a_stored_point_again(self):
        (self.folder / "a.db").write_bytes(store_of_all())
        again = run("rerun", "a.db:17", cwd=self.folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        run_id = rows(self.folder / "a.db", "SELECT id FROM sweep_results WHERE position = 17")[0][0]
        self.assertEqual(again.stdout, f"same results: {run_id}\n")
        self.assertEqual(run("rerun", f"a.db:{run_id[:12]}", cwd=self.folder).returncode, 0)
        self.expect_failure(run("rerun", "a.db:600", cwd=self.folder), 2, "has no point '600'")

    def test_run_ids_are_those_of_run(self):
        self.spec = spec(self.folder, contexts=4)
        self.spec.write_text(self.spec.read_text() + "reading: all\n")  # with the intervals that a run has
        self.sweep("-o", "a.db")
        row = rows(self.folder / "a.db", "SELECT id, scenario, settings, results FROM sweep_results WHERE position = 6")[0]
        sets = [word for option in json.loads(row[2]) for word in ("--set", option)]
        record = json.loads(run("run", row[1], *sets, "--json").stdout)
        self.assertEqual(record["provenance"]["run_id"], row[0])
        stored = json.loads(row[3])
        self.assertEqual(stored.pop("setup")["batch"], 16)
        self.assertEqual(record["results"], stored)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
