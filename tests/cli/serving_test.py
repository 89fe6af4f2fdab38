"""Servers under load: serving_test.py PROGRAM SOURCE_FOLDER."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from program import MAPLE, PROGRAM, SOURCE, InFolder, run

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
        for path in FILES:
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
        """Largest resident memory of the program with these arguments, or that of this test if it is
        larger: a process begins with the peak of the one that starts it."""
        with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss

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
        self.expect_failure(run("run", PREFIX, "--set", "workload.trace=none.jsonl"), 3, "none.jsonl")
        self.expect_failure(run("run", BENCH, "--set", "server.host.iteraton=1 ms"), 3,
                            "did you mean 'iteration'?")

    def test_solve_finds_the_load_that_a_promise_allows(self):
        arguments = ("solve", SERVING / "llama3_8b_h100_closed_loop.yaml", "--vary",
                     "workload.arrivals.users", "--between", 1, 400, "--metric", "ttft.p99",
                     "--equals", "300 ms", "--set", "workload.requests=300")
        answer = json.loads(run(*arguments, "--json").stdout)
        self.assertEqual((answer["outcome"], answer["unit"]), ("found", "s"))
        self.assertLessEqual(answer["achieved"], 0.3)
        self.assertGreater(answer["next"]["achieved"], 0.3)
        self.assertEqual(int(answer["next"]["value"]), int(answer["value"]) + 1)
        said = run(*arguments).stdout
        self.assertIn("ttft_s.p99 is ", said)
        self.assertNotIn("bounded by", said)


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
