"""Sessions of requests, and traces fitted and made: sessions_test.py PROGRAM SOURCE_FOLDER."""
import csv
import json
import sys
import unittest

from program import SOURCE, InFolder, run

AGENTS = SOURCE / "configs/serving/agents_qwen3_30b_h200.yaml"
EXCERPT = SOURCE / "configs/traces/mooncake_form_excerpt.jsonl"
FEW = ("--set", "workload.sessions.count=6", "--set", "workload.sessions.max_context=110000")


class Sessions(InFolder):
    def printed(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_turn_comes_after_the_one_before_it(self):
        rows_file = self.folder / "rows.csv"
        self.printed("run", AGENTS, *FEW, "--requests", rows_file)
        with rows_file.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["session"] for row in rows}, {str(i) for i in range(6)})
        agents = {}
        for row in rows:
            agents.setdefault((row["session"], row["agent"]), []).append(row)
        for turns in agents.values():
            turns.sort(key=lambda row: int(row["turn"]))
            self.assertEqual([int(row["turn"]) for row in turns], list(range(len(turns))))
            for before, after in zip(turns, turns[1:]):
                self.assertGreaterEqual(float(after["arrival_s"]) + 1e-9,
                                        float(before["arrival_s"]) + float(before["e2e_latency_s"]))
                self.assertGreater(int(after["input_tokens"]),
                                   int(before["input_tokens"]) + int(before["output_tokens"]))

    def test_latencies_by_priority_are_those_of_the_rows(self):
        rows_file = self.folder / "rows.csv"
        ranked = [*FEW, "--set", "workload.sessions.priorities=[{priority: 1, weight: 1}, {priority: 5, weight: 2}]",
                  "--set", "server.scheduler.order=priority", "--set", "measure={warm_up: 0}"]
        record = json.loads(self.printed("run", AGENTS, *ranked, "--requests", rows_file, "--json"))
        with rows_file.open(newline="") as file:
            rows = list(csv.DictReader(file))
        said = record["results"]["serving"]["priorities"]
        self.assertEqual([one["priority"] for one in said], [1, 5])
        for one in said:
            of_it = [float(row["ttft_s"]) for row in rows if int(row["priority"]) == one["priority"]]
            self.assertEqual(len(of_it), one["requests"])
            self.assertAlmostEqual(sum(of_it) / len(of_it), one["ttft_s"]["mean"], places=9)
        self.assertIn("Latencies by priority", self.printed("run", AGENTS, *ranked))

    def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(self):
        first = json.loads(self.printed("run", AGENTS, *FEW, "--json", "-j", 1))
        self.assertEqual(json.loads(self.printed("run", AGENTS, *FEW, "--json", "-j", 2)), first)
        self.assertIn("session_busy_s.p99", first["results"]["metrics"])
        (self.folder / "r.json").write_text(json.dumps(first))
        self.assertIn("same results", self.printed("rerun", self.folder / "r.json"))

    def test_a_server_says_what_its_prefix_cache_does(self):
        cache = ("{eviction_policy: arc, ttl: 600 s, load: if_faster, prefetch: {before_tool_ends: 1 s}, "
                 "layerwise_load: true, moved_by: kernel, tool_calls: {time: 30 s}, tiers: [{tier: pool, "
                 "capacity: 64 GiB, ttl: 3600 s, compression: {ratio: 2, compress: {value: 40 GB/s, class: assumed, "
                 "source: a test}, restore: {value: 60 GB/s, class: assumed, source: a test}}}]}")
        text = self.printed("run", AGENTS, *FEW, "--set", "server.prefix_cache=" + cache)
        self.assertIn("; prefix cache by arc for 600 s, 64 GiB of pool for 3600 s (compressed to 1/2), loaded where "
                      "that is faster, prefetched, loaded layer by layer, moved by kernels, kept up to 30 s while "
                      "tools run\n", text)

    def test_a_log_with_sessions_is_served_turn_by_turn_and_runs_again(self):
        log = self.folder / "log.csv"
        log.write_text("at,in,out,chat,wait\n0,100,29,a,\n1,50,4,b,\n2,160,5,a,3.5\n9,8,2,,\n")
        self.printed("run", SOURCE / "configs/serving/trace_azure_code.yaml", "--set",
                     f"workload.trace={{file: {log}, columns: {{arrival: at, input: in, output: out, session: chat, "
                     "pause: wait}}", "--set", "workload.prefix_block=16", "--set", "server.prefix_cache={}", "--set",
                     "measure={warm_up: 0, slo_session: 60 s}", "-o", self.folder / "r.json", "--requests",
                     self.folder / "rows.csv")
        with (self.folder / "rows.csv").open(newline="") as file:
            rows = {(row["session"], row["turn"]): row for row in csv.DictReader(file)}
        first, later = rows["0", "0"], rows["0", "1"]
        self.assertAlmostEqual(float(later["arrival_s"]), float(first["e2e_latency_s"]) + 3.5)
        self.assertEqual(later["cached_tokens"], "128")  # 100 + 28 positions, of blocks of 16
        metrics = json.loads((self.folder / "r.json").read_text())["results"]["metrics"]
        self.assertEqual(metrics["session_slo_attainment"]["value"], 1)
        self.assertEqual(metrics["requests_per_session.mean"]["value"], 4 / 3)
        self.assertIn("same results", self.printed("rerun", self.folder / "r.json"))

    def test_what_no_session_gives_is_said(self):
        late = ("run", AGENTS, *FEW, "--set", "measure={warm_up: 0.9, slo_session: 60 s}")
        results = json.loads(self.printed(*late, "--json"))["results"]
        self.assertNotIn("session_slo_attainment", results["metrics"])
        missing = results["serving"]["unmeasured"]
        self.assertEqual(len(missing), 7)
        text = self.printed(*late)
        for line in missing:
            self.assertIn("not measured: " + line, text)

    def test_blocks_that_a_tool_call_discards_are_fetched_before_it_ends(self):
        def moved(cache):
            settings = [part for key, value in cache.items()
                        for part in ("--set", f"server.prefix_cache.{key}={value}")]
            text = self.printed("run", AGENTS, *FEW, *settings, "--json", "-o", self.folder / "r.json")
            self.assertIn("same results", self.printed("rerun", self.folder / "r.json"))
            return {move["name"]: move["bytes"] for move in json.loads(text)["results"]["serving"]["kv_moves"]}
        discarded = moved({"tool_calls": "{blocks: discard}"})
        fetched = moved({"tool_calls": "{blocks: discard}", "prefetch": "{before_tool_ends: 1 s}"})
        self.assertNotIn("prefetch", discarded)
        self.assertGreater(fetched["prefetch"], 0)
        self.assertLess(fetched["prefix_load"], discarded["prefix_load"])

    def test_a_made_trace_is_fitted_and_the_fit_runs(self):
        made = self.folder / "made.jsonl"
        self.printed("trace", "make", AGENTS, "--requests", 200, "--seed", 3, "-o", made)
        lines = [json.loads(line) for line in made.read_text().splitlines()]
        self.assertEqual(len(lines), 200)
        self.assertEqual([line["timestamp"] for line in lines], sorted(line["timestamp"] for line in lines))
        for line in lines:
            self.assertEqual(len(line["hash_ids"]), line["input_length"] // 64)
        self.assertEqual(lines[0]["hash_ids"], list(range(len(lines[0]["hash_ids"]))))
        fitted = self.folder / "fitted.yaml"
        fitted.write_text(self.printed("trace", "fit", made, "--block", 64))
        self.assertIn("  sessions:\n", fitted.read_text())
        again = self.printed("trace", "make", fitted, "--requests", 5, "--form", "csv")
        self.assertEqual(again.splitlines()[0], "arrival_ms,input_tokens,output_tokens,session,agent,turn")
        self.assertEqual(len(again.splitlines()), 6)
        error = json.loads(self.printed("trace", "fit", made, "--block", 64, "--json"))
        self.assertEqual(error["requests"], 200)
        self.assertLessEqual(error["hit_rate_difference"], 1)
        self.printed("trace", "make", fitted, "--requests", 5, "-o", self.folder / "x.jsonl.gz")

    def test_a_trace_without_sessions_is_fitted_by_its_requests(self):
        log = self.folder / "log.csv"
        log.write_text("at,in,out\n" + "".join(f"{i * i % 997 / 10 + i},{100 + i * 7 % 90},{1 + i % 9}\n" for i in range(200)))
        text = self.printed("trace", "fit", log, "--columns", "arrival=at", "input=in", "output=out")
        self.assertIn("  requests: 200\n", text)
        (self.folder / "f.yaml").write_text(text)
        self.printed("run", self.folder / "f.yaml")

    def test_a_session_that_is_too_long_for_the_server_says_what_to_lower(self):
        result = run("run", AGENTS, *FEW, "--set", "workload.sessions.max_context=900000", "--set",
                     "workload.sessions.system_prompt=800000")
        self.expect_failure(result, 3, "error: request 0 of ", "input and", "a lower max_context, or room")

    def test_mistakes_are_named(self):
        few = self.folder / "few.jsonl"
        few.write_text(EXCERPT.read_text().splitlines()[0] + "\n")
        self.expect_failure(run("trace", "fit", few), 3, "few.jsonl:1:1: error: has 1 requests, too few for a fit")
        self.expect_failure(run("trace", "fit", self.folder / "none.csv"), 3, "none.csv:1:1: error: cannot read the trace")
        self.expect_failure(run("trace", "fit", EXCERPT, "--token-time", "3 GB"), 2, "'3 GB' is no time of a day or less, such as '20 ms'")
        self.expect_failure(run("trace", "make", AGENTS, "--form", "xml"), 2, "'xml' is none of mooncake and csv")
        self.expect_failure(run("trace", "make", self.folder / "none.yaml"), 3, "none.yaml")
        self.expect_failure(run("trace", "make", AGENTS, "--set", "workload.sessions.turns.mean=0"), 3,
                            "workload.sessions.turns.mean: '0' is out of range")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
