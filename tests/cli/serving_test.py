"""Servers under load: serving_test.py PROGRAM SOURCE_FOLDER."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from program import MAPLE, NIGHTLY, PROGRAM, SOURCE, InFolder, nightly, run

SERVING = SOURCE / "configs/serving"
FILES = sorted(SERVING.glob("*.yaml"))
BENCH = SERVING / "llama2_7b_h100.yaml"
POISSON = SERVING / "llama3_8b_h100_poisson.yaml"
PREFIX = SERVING / "llama2_7b_rtx4090_prefix_cache.yaml"
FEW = ("--set", "workload.requests=40")


def record_of(*arguments):
    result = run("run", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def metrics_of(*arguments):
    return {name: m["value"] for name, m in record_of(*arguments)["results"]["metrics"].items()}


class Serving(InFolder):
    def rate_at_which_drafts_stop_paying(self, tokens, accepted, *options):
        draft = f"speculation={{draft: {{kind: ngram}}, tokens: {tokens}, acceptance: {{rate: {accepted}}}}}"
        found = run("solve", POISSON, "--set", draft, "--vary", "rate", "--between", "1", "30", "--metric",
                    "speculation_speedup", "--equals", "1", "--json", *options)
        self.assertEqual(found.returncode, 0, found.stderr)
        answer = json.loads(found.stdout)
        self.assertEqual(answer["outcome"], "found")
        self.assertLessEqual(answer["achieved"], 1)
        self.assertGreater(answer["next"]["achieved"], 1)
        return answer

    def test_solves_for_the_rate_at_which_drafts_stop_paying(self):
        self.rate_at_which_drafts_stop_paying(5, 0.1, *FEW)

    @nightly
    def test_the_page_of_drafts_says_at_which_rate_they_stop_paying(self):
        """The command of configs/speculation/README.md, and its words."""
        page = (SOURCE / "configs/speculation/README.md").read_text()
        answer = self.rate_at_which_drafts_stop_paying(3, 0.4)
        self.assertIn(f"{answer['value']} requests a second, where it gives {answer['achieved']:.4f} of the", page)
        self.assertIn(f"at {answer['next']['value']} {answer['next']['achieved']:.3f}.", page)

    def test_explains_an_average_iteration(self):
        config = SOURCE / "configs/serving/llama3_8b_h100_closed_loop.yaml"
        plain = run("run", config)
        result = run("run", config, "--explain")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(plain.stdout))
        text = result.stdout[len(plain.stdout):]
        self.assertRegex(text, r"The mean of \d+ iterations that decode only: [\d.]+ sequences at \d+ positions")
        self.assertRegex(text, r"(?m)^products of the MLP +64 .* kernel 100 %$")
        self.assertRegex(text, r"(?m)^the GPU waits for the CPU +- +250 us ")
        self.assertRegex(text, r"The mean of \d+ iterations that read prompts: .* tokens of prompts")
        for option in (["--json"], ["--trace", "t.json"]):
            self.expect_failure(run("run", config, "--explain", *option), 2, "--explain: prints tables")
        self.expect_failure(run("run", SOURCE / "configs/scenarios/maple/llama2_7b_maple.yaml", "--explain"), 2,
                            "--explain: is of a server")

    def test_replicas_that_share_nothing_run_on_any_number_of_threads(self):
        many = (POISSON, "--set", "system.gpus.count=6", "--set", "server.routing=round_robin", "--set",
                "workload.requests=400", "--set", "workload.arrivals.requests_per_s=60", "--json")
        first = run("run", *many).stdout
        self.assertGreater(json.loads(first)["results"]["metrics"]["iterations"]["value"], 400)
        for option in (("-j", 1), ("-j", 4), ("--threads", 9), ("-j", 2, "--trace", self.folder / "t.json")):
            with self.subTest(option=option):
                result = run("run", *many, *option)
                self.assertEqual((result.returncode, result.stdout), (0, first), result.stderr)
        self.expect_failure(run("run", POISSON, "-j", 0), 2, "--threads: Value 0 not in range")
        self.expect_failure(run("run", MAPLE, "-j", 2), 2, "--threads: is of a server with several replicas")

    def test_every_shipped_file_runs_and_conserves_its_tokens(self):
        self.assertGreaterEqual(len(FILES), 13)
        for path in FILES if NIGHTLY else FILES[2::3]:  # validation tests run all, through the library
            with self.subTest(file=path.name):
                record = record_of(path)
                counts = record["results"]["serving"]["counts"]
                self.assertGreater(counts["requests"], 0)
                self.assertGreaterEqual(counts["prefilled_tokens"] + counts["cached_tokens"],
                                        counts["input_tokens"])
                self.assertTrue(record["config"]["description"], "a newcomer asks what it is for")

    def test_the_same_file_gives_the_same_bytes_and_another_seed_others(self):
        first = run("run", POISSON, *FEW, "--json").stdout
        self.assertEqual(run("run", POISSON, *FEW, "--json").stdout, first)
        other = run("run", POISSON, *FEW, "--json", "--set", "seed=2").stdout
        self.assertNotEqual(json.loads(other)["results"], json.loads(first)["results"])

    def test_a_record_runs_again(self):
        for path in (BENCH, POISSON, PREFIX):
            with self.subTest(file=path.name):
                result = run("run", path, "-o", self.folder / "r.json",
                             *(FEW if path != PREFIX else ()))
                self.assertEqual(result.returncode, 0, result.stderr)
                again = run("rerun", self.folder / "r.json")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertIn("same results", again.stdout)

    def test_rerun_wants_the_trace_that_was_run(self):
        trace = self.folder / "trace.jsonl"
        shutil.copy(SOURCE / "configs/traces/mooncake_form_excerpt.jsonl", trace)
        arguments = (PREFIX, "--set", f"workload.trace={trace}", "-o", self.folder / "r.json")
        self.assertEqual(run("run", *arguments).returncode, 0)
        self.assertEqual(run("rerun", self.folder / "r.json").returncode, 0)
        with trace.open("a") as file:
            file.write('{"timestamp": 900000, "input_length": 10, "output_length": 1, "hash_ids": [9]}\n')
        self.expect_failure(run("rerun", self.folder / "r.json"), 3, "trace.jsonl")

    def test_the_summary_says_what_people_ask_first(self):
        text = run("run", POISSON, *FEW).stdout
        for word in ("llama3-8b H100, Poisson arrivals", "ttft", "p99", "tokens/s", "KV", "weights"):
            self.assertIn(word.lower(), text.lower())
        self.assertNotRegex(text, r"\bnan\b|\binf\b")

    def test_a_figure_is_svg_and_a_step_has_none(self):
        figure = self.folder / "f.svg"
        result = run("run", BENCH, *FEW, "--figure", figure)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(figure.read_text().startswith("<svg"))
        self.assertEqual(run("run", BENCH, *FEW, "--figure", "-").stdout, figure.read_text())
        self.expect_failure(run("run", MAPLE, "--figure", figure), 2, "--figure", "--trace")
        self.expect_failure(run("run", BENCH, "--figure", self.folder / "no/f.svg"), 2, "there is no folder")

    def test_show_can_be_run_and_a_trace_is_its_digest(self):
        for path in (POISSON, PREFIX):
            shown = run("config", "show", path)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            (self.folder / "shown.yaml").write_text(shown.stdout)
            again = record_of(self.folder / "shown.yaml")
            self.assertEqual(again["results"], record_of(path)["results"])
        self.assertRegex(shown.stdout, r"sha256: [0-9a-f]{64}")

    def peak_kib(self, *arguments):
        """Largest resident memory of the program with these arguments, KiB. A process begins with the
        peak of the one that starts it, which is therefore a small one."""
        starter = ("import os, sys\n"
                   "child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[\n"
                   "    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])\n"
                   "_, status, usage = os.wait4(child, 0)\n"
                   "print(usage.ru_maxrss)\n"
                   "sys.exit(os.waitstatus_to_exitcode(status))\n")
        result = subprocess.run([sys.executable, "-I", "-S", "-c", starter, PROGRAM, *arguments],
                                stdout=subprocess.PIPE, text=True, check=True)
        return int(result.stdout)

    def test_a_run_of_a_thousand_requests_takes_20_mb(self):
        if subprocess.run(["grep", "-qE", "__(asan|tsan)_init|__ubsan_handle", PROGRAM], check=False).returncode == 0:
            self.skipTest("a build with sanitizers takes more memory than it needs")
        self.assertLess(self.peak_kib("run", SERVING / "llama3_8b_h100_poisson.yaml", "--set", "workload.requests=1000",
                                      "--set", "workload.input={tokens: 2048}", "--set", "workload.output={tokens: 256}",
                                      "--set", "workload.arrivals.requests_per_s=4"), 20_000)

    def test_servers_and_serving_files_are_listed_shown_and_described(self):
        listed = {s["file"]: s for s in json.loads(run("list", "serving", "--json").stdout)}
        self.assertEqual(sorted(listed), sorted(
            str(p.relative_to(SOURCE / "configs")) for p in SERVING.rglob("*.yaml")))
        for path in sorted((SOURCE / "configs/servers").glob("*.yaml")):
            self.assertEqual(run("config", "show", path).returncode, 0, path)
        for kind in ("serving", "server"):
            shipped = (SOURCE / f"configs/schema/{kind}.schema.json").read_text()
            self.assertEqual(run("config", "schema", kind).stdout, shipped,
                             f"run: tiersim config schema {kind} > configs/schema/{kind}.schema.json")

    def test_every_metric_of_a_record_is_defined(self):
        defined = []
        for metric in json.loads(run("list", "metrics", "--json").stdout):
            head, _, tail = metric["metric"].partition("{")
            defined += [head + one for one in tail.rstrip("}").split(",")]
        for path in (POISSON, PREFIX):
            for name, metric in record_of(path)["results"]["metrics"].items():
                self.assertIn(name, defined)
                self.assertTrue(metric["unit"], name)

    def test_what_cannot_be_served_is_said_where_it_comes_from(self):
        too_large = ("--set", "model.base=models/llama2_70b.yaml")
        self.expect_failure(run("run", BENCH, *too_large), 3, "error: ", "hbm")
        self.expect_failure(run("run", BENCH, "--set", "workload.input.tokens=1000000"), 3, "error: ")
        self.expect_failure(run("run", SERVING / "llama3_70b_prefill_h100_decode_a100.yaml", "--set",
                                "workload.input={tokens: 3000000, sigma: 0, max: 3000000}"), 3, "room for them: prefill.parallel.tensor, parallel.tensor")
        self.expect_failure(run("run", PREFIX, "--set", "workload.trace=none.jsonl"), 3, "none.jsonl")
        self.expect_failure(run("run", BENCH, "--set", "server.host.iteraton=1 ms"), 3,
                            "did you mean 'iteration'?")

    def test_solve_finds_the_load_that_a_promise_allows(self):
        arguments = ("solve", SERVING / "llama3_8b_h100_closed_loop.yaml", "--vary",
                     "workload.arrivals.users", "--between", 8, 100, "--metric", "ttft.p99",
                     "--equals", "300 ms", "--set", "workload.requests=60")
        answer = json.loads(run(*arguments, "--json").stdout)
        self.assertEqual((answer["outcome"], answer["unit"]), ("found", "s"))
        self.assertLessEqual(answer["achieved"], 0.3)
        self.assertGreater(answer["next"]["achieved"], 0.3)
        self.assertEqual(int(answer["next"]["value"]), int(answer["value"]) + 1)
        said = run(*arguments).stdout
        self.assertIn("ttft_s.p99 is ", said)
        self.assertNotIn("bounded by", said)

    LOAD = ("solve", POISSON, "--set", "workload.requests=30", "--vary", "rate")

    def test_every_range_has_the_same_load(self):
        answers = [json.loads(run(*self.LOAD, "--between", low, high, "--metric", "ttft.p99", "--equals", "300 ms",
                                  "--json").stdout) for low, high in ((2, 40), (3.3, 120), (1, 64))]
        self.assertEqual({a["outcome"] for a in answers}, {"found"})
        self.assertEqual(len({(a["value"], a["achieved"]) for a in answers}), 1, [a["value"] for a in answers])
        self.assertGreater(answers[0]["next"]["achieved"], 0.3)

    def test_several_goals_over_several_seeds(self):
        arguments = (*self.LOAD[:-2], "--require", "ttft.p99<300ms", "--require", "tpot.p99 < 25 ms", "--maximize",
                     "rate", "--seeds", 3)
        answer = json.loads(run(*arguments, "--between", 4, 20, "--json").stdout)
        self.assertEqual((answer["outcome"], answer["seeds"]), ("found", 3))
        low, high = map(float, answer["interval"])
        self.assertTrue(low <= float(answer["value"]) <= high)
        for metric, name in zip(answer["metrics"], ("ttft_s.p99", "tpot_s.p99")):
            values = [metrics_of(POISSON, "--set", "workload.requests=30", "--set", f"seed={seed}", "--set",
                                 f"workload.arrivals.requests_per_s={answer['value']}")[name] for seed in (1, 2, 3)]
            mean = sum(values) / 3
            # Student's t of 2 degrees of freedom: 4.3027
            half = 4.3027 * (sum((v - mean) ** 2 for v in values) / 2 / 3) ** 0.5
            self.assertAlmostEqual(metric["value"], mean, delta=1e-12)
            self.assertAlmostEqual(metric["ci95"][1], mean + half, delta=1e-3 * half)
            self.assertTrue(metric["holds"])
        self.assertTrue(any(not metric["holds"] for metric in answer["next"]["metrics"]))
        # Another range has the same answer.
        said = run(*arguments, "--between", 6, 33).stdout
        self.assertRegex(said, rf"^workload.arrivals.requests_per_s = {re.escape(answer['value'])} "
                               r"\[[\d.]+, [\d.]+\]\n  ttft_s.p99 is ")
        self.assertIn("missed", said)

    def test_a_metric_with_several_statistics_names_them(self):
        self.expect_failure(run(*self.LOAD, "--between", 2, 40, "--metric", "tpot", "--equals", "20 ms"), 3,
                            "no metric 'tpot_s' (it has: tpot_s.mean, tpot_s.p50")
        self.expect_failure(run("report", "curves", POISSON, "--y", "tpot"), 2, "no point has 'tpot_s'",
                            "they have: tpot_s.mean")

    def test_goals_that_nothing_reaches_are_exit_5(self):
        result = run(*self.LOAD, "--between", 2, 40, "--require", "ttft.p99<1us", "--maximize", "rate")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("no value does it", result.stdout)


class TraceStatistics(InFolder):
    EXCERPT = SOURCE / "configs/traces/mooncake_form_excerpt.jsonl"

    def stats(self, *arguments):
        result = run("trace", "stats", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_published_form_has_lengths_bursts_and_a_curve_of_caches(self):
        tables = json.loads(self.stats(self.EXCERPT, "--format", "json"))
        requests = [json.loads(line) for line in self.EXCERPT.read_text().splitlines()]
        self.assertEqual(tables["requests"][0]["requests"], len(requests))
        names = [name for request in requests for name in request["hash_ids"]]
        self.assertEqual(tables["reuse"][0]["lookups"], len(names))
        self.assertEqual(tables["reuse"][0]["distinct"], len(set(names)))
        found = (len(names) - len(set(names))) / len(names)
        self.assertAlmostEqual(tables["reuse"][0]["most_found"], found)
        self.assertAlmostEqual(tables["lru"][-1]["hit_rate"], found)
        self.assertEqual(tables["lengths"][1]["most"], max(r["output_length"] for r in requests))
        text = self.stats(self.EXCERPT, "--token-bytes", "128 KiB", "--blocks", "8,16")
        self.assertRegex(text, r"\n +8 +4096 +512 MiB +\d+\.\d %\n +16 +8192 +1 GiB")
        self.assertIn("standard error", self.stats(self.EXCERPT, "--sample", "0.5"))

    def test_a_log_of_ones_own_names_its_columns(self):
        log = self.folder / "log.csv"
        log.write_text("at,in,out\n" + "".join(f"{250 * i},{100 + i},1\n" for i in range(40)))
        tables = json.loads(self.stats(log, "--columns", "arrival=at", "input=in", "output=out", "--time", "ms",
                                       "--format", "json"))
        self.assertEqual(tables["requests"][0], {"requests": 40, "duration_s": 9.75, "requests_per_s": 40 / 9.75,
                                                 "gap_variation": 0})
        self.assertNotIn("lru", tables)

    def test_mistakes_are_named(self):
        bad = self.folder / "bad.csv"
        bad.write_text("at,in,out\n1,-1,1\n")
        columns = ("--columns", "arrival=at", "input=in", "output=out")
        self.expect_failure(run("trace", "stats", bad, *columns), 3, "bad.csv:2:3: error: in is '-1'")
        self.expect_failure(run("trace", "stats", self.folder / "none.csv"), 3, "none.csv:1:1: error: cannot read the trace: No such file")
        for option, message in [(("--columns", "at=in"), "'at=in' is none of arrival=NAME, input=NAME and output=NAME"),
                                (("--columns", "arrival=at"), "--columns: input=NAME is missing"),
                                (("--time", "ms"), "is of the column of --columns"),
                                ((*columns, "--time", "h"), "'h' is none of iso, s, ms, us, ns"),
                                (("--sample", "0"), "0 is not above 0 and at most 1"),
                                (("--blocks", "1,x"), "'x' is no whole number from 1"),
                                (("--token-bytes", "12 GB/s"), "is no number of bytes, such as '128 KiB'")]:
            self.expect_failure(run("trace", "stats", bad, *option), 2, message)


class TraceCaches(InFolder):
    EXCERPT = SOURCE / "configs/traces/mooncake_form_excerpt.jsonl"

    def rows(self, *arguments):
        result = run("trace", "cache", *arguments, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_every_policy_finds_what_there_is_to_find_and_none_more_than_belady(self):
        names = [name for line in self.EXCERPT.read_text().splitlines() for name in json.loads(line)["hash_ids"]]
        rows = self.rows(self.EXCERPT)
        policies = ("arc", "fifo", "gdsf", "lfu", "lru", "s3_fifo", "sieve")
        for row in rows:
            for policy in policies:
                self.assertLessEqual(row[policy], row["belady"])
            self.assertEqual(row[row["best"]], max(row[policy] for policy in policies))
        self.assertEqual(rows[-1]["blocks"], len(set(names)))
        for policy in (*policies, "belady"):
            self.assertAlmostEqual(rows[-1][policy], 1 - len(set(names)) / len(names))
        stats = json.loads(run("trace", "stats", self.EXCERPT, "--format", "json", "--blocks", "8,16").stdout)
        lru = self.rows(self.EXCERPT, "--policies", "lru", "--blocks", "8,16")
        self.assertEqual([row["lru"] for row in lru], [row["hit_rate"] for row in stats["lru"]])

    def test_a_serving_file_stands_for_the_trace_that_it_makes(self):
        agents = (SERVING / "agents_qwen3_30b_h200.yaml", "--set", "workload.sessions.count=4")
        made = run("trace", "make", *agents, "--token-time", "20 ms", "-o", self.folder / "t.jsonl")
        self.assertEqual(made.returncode, 0, made.stderr)
        options = ("--blocks", "500,5000", "--policies", "lru,belady")
        self.assertEqual(self.rows(*agents, "--token-time", "20 ms", *options),
                         [{**row, "tokens": row["blocks"] * 64} for row in
                          self.rows(self.folder / "t.jsonl", "--block", 64, *options)])

    def test_mistakes_are_named(self):
        bare = self.folder / "bare.jsonl"
        bare.write_text('{"timestamp": 0, "input_length": 5, "output_length": 1}\n')
        self.expect_failure(run("trace", "cache", bare), 3, "its prompts name no blocks")
        for option, message in [(("--policies", "lru,mru"), "'mru' is none of arc, belady"),
                                (("--policies", "lru,lru"), "'lru' stands twice"),
                                (("--blocks", "0"), "'0' is no whole number from 1"),
                                (("--set", "seed=2"), "--set: is for a serving file"),
                                (("--requests", "3"), "--requests: is for a serving file"),
                                (("--token-time", "1 s"), "--first-token and --token-time: is for a serving file")]:
            self.expect_failure(run("trace", "cache", self.EXCERPT, *option), 2, message)
        self.expect_failure(run("trace", "cache", SERVING / "agents_qwen3_30b_h200.yaml", "--columns", "arrival=at"), 2,
                            "--columns: is for a trace")


class OwnTraces(InFolder):
    BASE = SERVING / "trace_azure_code.yaml"

    def own(self, text, columns="{arrival: at, input: in, output: out}", name="log.csv"):
        (self.folder / name).write_text(text)
        return (self.BASE, "--set", f"workload.trace={{file: {self.folder / name}, columns: {columns}}}")

    def test_a_log_of_ones_own_is_served_and_runs_again(self):
        text = "id,at,in,out\n" + "".join(f"{i},{i / 4},{100 + i},{1 + i % 7}\n" for i in range(40))
        arguments = self.own(text)
        result = run("run", *arguments, "-o", self.folder / "r.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = json.loads((self.folder / "r.json").read_text())["results"]["serving"]["counts"]
        self.assertEqual((counts["requests"], counts["input_tokens"]), (40, sum(100 + i for i in range(40))))
        again = run("rerun", self.folder / "r.json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("same results", again.stdout)
        dotted = run("run", self.BASE, "--set", f"workload.trace.file={self.folder / 'log.csv'}", "--set",
                     "workload.trace.columns.arrival=at", "--set", "workload.trace.columns.input=in", "--set",
                     "workload.trace.columns.output=out", "--json")
        self.assertEqual(dotted.returncode, 0, dotted.stderr)
        self.assertEqual(json.loads(dotted.stdout)["results"],
                         json.loads((self.folder / "r.json").read_text())["results"])

    def test_mistakes_are_named_where_they_are(self):
        self.expect_failure(run("run", *self.own("at,in,outt\n1,1,1\n")), 3, "log.csv:1:1: error: there is no column "
                            "'out' (did you mean 'outt'? there are: at, in, outt)")
        self.expect_failure(run("run", *self.own("at,in,out\n1,1,1\n2,-1,1\n2026-01-01T00:00:00,1,1\n")), 3,
                            "log.csv:3:3: error: in is '-1'", "log.csv:4:1: error: at is '2026-01-01T00:00:00'")

    def rows(self, *arguments):
        result = run("run", *arguments, "--requests", self.folder / "rows.csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        with (self.folder / "rows.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def test_a_row_for_each_request_agrees_with_the_record(self):
        rows = self.rows(POISSON, *FEW, "--set", "measure.warm_up=0", "-o", self.folder / "r.json")
        metrics = json.loads((self.folder / "r.json").read_text())["results"]["metrics"]
        self.assertEqual(sorted(int(row["request"]) for row in rows), list(range(40)))
        for name in ("ttft_s", "tpot_s", "e2e_latency_s", "queue_time_s"):
            values = [float(row[name]) for row in rows if row[name]]
            self.assertAlmostEqual(sum(values) / len(values), metrics[name + ".mean"]["value"],
                                   delta=1e-9 * metrics[name + ".mean"]["value"])
        for row in rows:
            self.assertTrue(set(",".join(row.values())) <= set("0123456789.,e-"), row)
            self.assertFalse(any(value.startswith("-") for value in row.values()), row)
        first = (self.folder / "rows.csv").read_bytes()
        self.rows(POISSON, *FEW, "--set", "measure.warm_up=0", "--trace", self.folder / "t.json.gz")
        self.assertEqual((self.folder / "rows.csv").read_bytes(), first)
        printed = run("run", POISSON, *FEW, "--set", "measure.warm_up=0", "--requests", "-")
        self.assertEqual(printed.stdout.encode(), first)

    def test_rows_name_both_replicas_of_a_server_that_hands_over(self):
        rows = self.rows(SERVING / "llama3_8b_h100x4_disaggregated.yaml", *FEW)
        self.assertEqual({row["replica"] for row in rows}, {"0", "1"})
        self.assertEqual({row["decode_replica"] for row in rows}, {"2", "3"})
        rows = self.rows(PREFIX)
        self.assertTrue(any(int(row["cached_tokens"]) > 0 for row in rows))
        self.assertTrue(all(row["replica"] == row["decode_replica"] for row in rows))

    def test_rows_count_the_failures_that_a_request_met(self):
        rows = self.rows(SERVING / "fleet/llama3_8b_h100x8_failures.yaml", *FEW, "--set", "measure.warm_up=0",
                         "--set", "server.failures.mean_time_between=20 s", "-o", self.folder / "r.json")
        metrics = json.loads((self.folder / "r.json").read_text())["results"]["metrics"]
        restarts = sum(int(row["restarts"]) for row in rows)
        self.assertGreater(restarts, 0)
        self.assertEqual(restarts, metrics["restarts"]["value"])
        self.assertTrue(all(row["replica"] == row["decode_replica"] for row in rows))

    def test_rows_are_of_a_server(self):
        self.expect_failure(run("run", MAPLE, "--requests", self.folder / "x.csv"), 2, "--requests: is of a server")
        self.expect_failure(run("run", POISSON, "--requests", "-", "-o", "-"), 2, "one file only")
        self.assertFalse((self.folder / "x.csv").exists())

    def test_a_trace_beyond_16_mib_needs_no_memory_of_its_size(self):
        if subprocess.run(["grep", "-qE", "__(asan|tsan)_init|__ubsan_handle", PROGRAM], check=False).returncode == 0:
            self.skipTest("a build with sanitizers takes more memory than it needs")
        with (self.folder / "log.csv").open("w") as file:
            file.write("at,in,out,note\n")
            file.writelines(f"{i},100,1,{'x' * 200}\n" for i in range(300_000))
        size = (self.folder / "log.csv").stat().st_size
        self.assertGreater(size, 60_000_000)
        arguments = (self.BASE, "--set", f"workload.trace={{file: {self.folder / 'log.csv'}, columns: "
                     "{arrival: at, input: in, output: out}}", "--set", "workload.requests=100")
        with subprocess.Popen([PROGRAM, "run", *map(str, arguments)], stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertLess(usage.ru_maxrss, 40_000)  # KiB; the file has 62,000


class WhatServersDo(unittest.TestCase):
    """Orderings that follow from what each setting is, on the shipped files."""

    def test_more_requests_a_second_wait_longer_than_fewer(self):
        slow = metrics_of(POISSON, "--set", "workload.arrivals.requests_per_s=2")
        fast = metrics_of(POISSON, "--set", "workload.arrivals.requests_per_s=40")
        self.assertLess(slow["ttft_s.p99"], fast["ttft_s.p99"])
        self.assertLess(slow["throughput_tokens_per_s"], fast["throughput_tokens_per_s"])

    def test_bursts_of_the_same_rate_wait_longer(self):
        bursts = metrics_of(SERVING / "llama3_8b_h100_bursty.yaml")
        self.assertGreater(bursts["ttft_s.p99"], metrics_of(POISSON)["ttft_s.p99"])

    def test_batches_by_iteration_are_done_before_static_ones(self):
        static = metrics_of(SERVING / "llama2_7b_h100_static.yaml")
        continuous = metrics_of(SERVING / "llama2_7b_h100_continuous.yaml")
        self.assertLess(continuous["makespan_s"], static["makespan_s"])

    def test_a_closed_loop_keeps_no_more_requests_than_users(self):
        loop = metrics_of(SERVING / "llama3_8b_h100_closed_loop.yaml")
        self.assertLessEqual(loop["in_flight.max"], 100)

    def test_a_server_whose_cpu_takes_no_time_is_no_slower(self):
        ideal = metrics_of(POISSON, *FEW, "--set", "server.host.iteration=0 ns",
                           "--set", "server.host.sequence=0 ns", "--set", "server.host.sync=0 ns")
        self.assertLessEqual(ideal["tpot_s.mean"], metrics_of(POISSON, *FEW)["tpot_s.mean"])

    def test_prefixes_that_are_kept_are_not_read_again(self):
        self.assertGreater(metrics_of(PREFIX)["prefix_hit_rate"], 0.1)

    def test_swapped_sequences_move_over_the_link_and_recomputed_ones_do_not(self):
        swap = SERVING / "llama2_7b_h100_swap.yaml"
        moves = {m["name"]: m["bytes"] for m in record_of(swap)["results"]["serving"]["kv_moves"]}
        self.assertGreater(moves["swap_out"], 0)
        self.assertEqual(moves["swap_in"], moves["swap_out"])

    def test_a_prompt_handed_over_crosses_the_network_between_replicas(self):
        record = record_of(SERVING / "llama3_8b_h100x4_disaggregated.yaml")
        moves = {m["name"]: m["bytes"] for m in record["results"]["serving"]["kv_moves"]}
        self.assertGreater(moves["handover"], 0)

    def test_slices_of_the_latent_leave_room_for_more(self):
        tpla = SERVING / "llama2_7b_tpla_h100x2.yaml"
        blocks = lambda *a: record_of(tpla, *a)["results"]["serving"]["kv_capacity"]["blocks"]
        self.assertGreater(blocks(), 1.7 * blocks("--set", "parallel.latent_slices=1"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
