"""Timelines for Perfetto: trace_test.py PROGRAM SOURCE_FOLDER. perfetto.py reads them by its rules."""
import functools
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal

from perfetto import Imported
from program import MAPLE, PROGRAM, SOURCE, InFolder, run

SERVING = SOURCE / "configs/serving"
BENCH = SERVING / "llama2_7b_h100.yaml"
SWAP = SERVING / "llama2_7b_h100_swap.yaml"
PREFIX = SERVING / "llama2_7b_rtx4090_prefix_cache.yaml"
SPLIT = SERVING / "llama3_8b_h100x4_disaggregated.yaml"
STATIC = SERVING / "llama2_7b_h100_static.yaml"
FEW = ("--set", "workload.requests=60")


@functools.cache
def traced(config, *options):
    """A run with its timeline, once for all tests that read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.json.gz"
        result = run("run", config, *options, "--trace", path, "--json")
        return result, Imported(path) if result.returncode == 0 else None


class Traced(InFolder):
    def trace(self, config, *options):
        result, trace = traced(config, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(trace.faults, [])
        return trace, json.loads(result.stdout)["results"], result.stderr

    def expect_counters(self, trace):
        for (_, name), values in trace.counters.items():
            times = [time for time, _ in values]
            self.assertEqual(times, sorted(times))
            if name.endswith((" bytes", " bytes read", " bytes write")):
                numbers = [value for _, value in values]
                self.assertEqual(numbers, sorted(numbers), f"{name} falls")
            if name.endswith(" utilisation"):
                self.assertTrue(all(0 <= value <= 1 for _, value in values), name)
            elif not name.endswith(" bytes"):
                self.assertTrue(all(value >= 0 for _, value in values), name)

    def integral(self, trace, name):
        """Integral of a counter over time, all processes, in value * us."""
        total = 0
        for (_, counter), values in trace.counters.items():
            if counter == name:
                total += sum(value * (later - now)
                             for (now, value), (later, _) in zip(values, values[1:]))
        return float(total)


class Step(Traced):
    TWO = ("--set", "system.gpus.count=2", "--set", "system.shared.all=[pool]")

    def test_tracks_nest_and_counters_end_at_the_traffic(self):
        for options in ((), self.TWO, ("--set", "step.overlap=micro_batches")):
            trace, results, _ = self.trace(MAPLE, *options)
            self.expect_counters(trace)
            gpus = len([p for p in trace.processes.values() if "devices" not in p])
            for device, moved in results["traffic_bytes"].items():
                for direction in ("read", "write"):
                    self.assertEqual(trace.last(f"{device} bytes {direction}"),
                                     moved[direction] * (gpus if device != "pool" else 1), device)

    def test_a_transfer_s_arrow_ends_at_the_kernel_that_waited_for_it(self):
        trace, _, _ = self.trace(MAPLE)
        layers = 32
        gathers = [(a, b) for _, a, b in trace.arrows if a.name.endswith("gather")]
        self.assertEqual(len(gathers), layers)
        for transfer, kernel in gathers:
            self.assertEqual((transfer.category, kernel.category), ("transfer", "kernel"))
            self.assertEqual(kernel.name, transfer.name.replace("gather", "attention"))
            self.assertGreaterEqual(kernel.exact[0], transfer.exact[1])

    def test_channels_hold_what_passes_them(self):
        trace, results, _ = self.trace(MAPLE)
        for channel, total in results["channel_bytes"].items():
            passed = [s for s in trace.on("device") if trace.tracks[s.track].split(" (")[0] == channel]
            self.assertEqual(sum(s.values["channel_bytes"] for s in passed), total, channel)

    def test_utilisation_adds_up_to_the_record_s(self):
        for options in ((), self.TWO):
            trace, results, _ = self.trace(MAPLE, *options)
            step_us = results["metrics"]["step_time_s"]["value"] * 1e6
            shown = 0
            for channel, share in results["channel_utilisation"].items():
                names = [n for _, n in trace.counters if n.endswith(" utilisation")
                         and n.split(",")[0].split(" ")[0] == channel]
                for name in names:
                    shown += 1
                    # Each value is rounded to 0.001; bytes in flight are whole ones of 16384.
                    self.assertAlmostEqual(self.integral(trace, name) / step_us, share, delta=0.0007)
            self.assertGreaterEqual(shown, 4)

    def test_shared_by_two_is_one_track_with_both(self):
        trace, _, _ = self.trace(MAPLE, *self.TWO)
        pool = [s for s in trace.on("device") if trace.tracks[s.track].startswith("pool.bus")]
        self.assertEqual({s.values["gpu"] for s in pool}, {0, 1})
        moving = [v for (_, n), v in trace.counters.items() if n == "pool.bus operations moving"]
        self.assertEqual(max(value for _, value in moving[0]), 2)
        self.assertIn("hbm.bus, GPU 1", trace.tracks.values())

    def test_the_limit_is_of_servers(self):
        self.expect_failure(run("run", MAPLE, "--trace", self.folder / "t.json", "--trace-events", 5),
                            2, "--trace-events")
        self.expect_failure(run("run", BENCH, "--trace-events", 5), 2, "--trace-events", "--trace")


class Served(Traced):
    def expect_whole(self, trace, results):
        self.expect_counters(trace)
        counts = results["serving"]["counts"]
        self.assertEqual(len(trace.on("iteration")), counts["iterations"])
        self.assertEqual(len([a for a in trace.arrows if a[0] == "first token"]), counts["requests"])
        for channel, total in results["channel_bytes"].items():
            if total > 0:
                self.assertEqual(trace.last(f"{channel} bytes"), total, channel)
        moves = {m["name"]: m for m in results["serving"].get("kv_moves", [])}
        # Reading a prompt gives a token, and so does reading it again after its blocks were dropped.
        again = 0 if "swap_out" in moves else counts["preemptions"]
        tokens = sum(s.values["decodes"] for s in trace.on("iteration")) + counts["requests"] + again
        self.assertEqual(tokens, counts["output_tokens"])
        for name, move in moves.items():
            copies = [s for s in trace.on("copy") if s.name == name]
            self.assertEqual((len(copies), sum(s.values["bytes"] for s in copies)),
                             (move["count"], move["bytes"]), name)

    def test_sums_are_those_of_the_record(self):
        for config in (BENCH, SWAP, PREFIX):
            with self.subTest(file=config.name):
                trace, results, _ = self.trace(config, *(FEW if config == BENCH else ()))
                self.expect_whole(trace, results)

    def test_kernels_fill_the_first_iterations_of_each_kind(self):
        waits = ("--set", "server.host.overlap=true", "--set", "server.host.sync={value: 1 ms, class: assumed, source: a test}")
        trace, _, _ = self.trace(BENCH, *FEW, *waits, "--trace-kernels", "3")
        kernels = trace.on("kernel")
        iterations = trace.on("iteration")
        shown = [i for i in iterations if any(i.begin <= k.begin and k.end <= i.end for k in kernels)]
        reads = [i for i in iterations if i.values["prompt_tokens"] > 0]
        decodes = [i for i in iterations if i.values["prompt_tokens"] == 0]
        self.assertEqual(sorted(i.begin for i in shown), sorted(i.begin for i in reads[:3] + decodes[:3]))
        for i in shown:
            inside = [k for k in kernels if i.begin <= k.begin and k.end <= i.end]
            for before, after in zip(inside, inside[1:]):
                self.assertGreaterEqual(after.begin, before.end)
            gap = i.end - i.begin - 1000 * Decimal(i.values["before_gpu_us"]) - sum(k.end - k.begin for k in inside)  # ns
            self.assertAlmostEqual(float(gap), 1e6, delta=0.002 * float(i.end - i.begin))
            self.assertEqual({k.values["layer"] for k in inside if "layer" in k.values}, set(range(32)))
            self.assertEqual(any(k.name == "prefill attention" for k in inside), i.values["prompt_tokens"] > 0)
        self.assertEqual(self.trace(BENCH, *FEW, "--trace-kernels", "0")[0].on("kernel"), [])
        refused = run("run", SERVING / "early_exit/llama2_7b_tpla_h100x2.yaml", "--trace", self.folder / "x", "--trace-kernels", 5)
        self.expect_failure(refused, 2, "--trace-kernels: the iterations of this server have no row of kernels")
        self.assertFalse((self.folder / "x").exists())
        self.expect_failure(run("run", BENCH, "--trace-kernels", 5), 2, "--trace-kernels: needs --trace FILE")
        self.expect_failure(run("run", MAPLE, "--trace", self.folder / "x", "--trace-kernels", 5), 2,
                            "--trace-kernels: is of a server")

    def test_phases_fill_a_request_and_end_with_its_tokens(self):
        trace, results, _ = self.trace(SWAP)
        requests = {s.values["request"]: s for s in trace.on("request")}
        self.assertEqual(len(requests), results["serving"]["counts"]["requests"])
        phases, of_track = {}, {}
        for r in requests.values():
            of_track.setdefault(r.track, []).append(r)
        for s in trace.on("phase"):
            owner = next(r for r in of_track[s.track] if r.exact[0] <= s.exact[0] and s.exact[1] <= r.exact[1])
            phases.setdefault(owner.values["request"], []).append(s)
        for number, request in requests.items():
            spans = phases[number]
            self.assertEqual([a.exact[1] for a in spans[:-1]], [b.exact[0] for b in spans[1:]])
            self.assertEqual((spans[0].exact[0], spans[-1].exact[1]), request.exact)
            self.assertEqual(spans[-1].name, "decode")
            self.assertEqual(sum(s.name == "preempted" for s in spans), request.values["preemptions"])
            self.assertEqual(request.values["generated_tokens"], request.values["output_tokens"])

    def test_waiting_is_what_the_record_measures(self):
        trace, results, _ = self.trace(BENCH, *FEW)
        queued = {int(number): end - begin for _, _, _, number, begin, end in trace.stays}
        first = {}
        for name, request, iteration in trace.arrows:
            if name == "first token":
                number = next(r.values["request"] for r in trace.on("request")
                              if r.track == request.track and r.exact[0] <= request.exact[0] < r.exact[1])
                first[number] = iteration.exact[1]  # all arrive at time 0
        mean = sum(first.values()) / len(first) / Decimal(10**6)
        self.assertAlmostEqual(float(mean), results["metrics"]["ttft_s.mean"]["value"], delta=1e-9)
        for request in trace.on("request"):
            self.assertEqual(queued.get(request.values["request"], 0), request.values["queued_us"])

    def test_copies_are_reached_from_the_phase_that_waits_for_them(self):
        expected = {SWAP: {("preempted", "swap_out"), ("loading", "swap_in")},
                    PREFIX: {("loading", "prefix_load")}, SPLIT: {("loading", "handover")}}
        for config, pairs in expected.items():
            trace, _, _ = self.trace(config, *(FEW if config == SPLIT else ()))
            self.assertEqual({(a.name, b.name) for name, a, b in trace.arrows if name == "copy"}, pairs)

    def test_a_handed_over_request_is_on_both_replicas(self):
        trace, _, _ = self.trace(SPLIT, *FEW)
        self.assertEqual(len(trace.processes), 5)
        stays = [s for s in trace.on("request")]
        self.assertEqual(len(stays), 2 * 60)

    def test_static_batches_and_early_exits_have_traces_too(self):
        for config in (STATIC, SERVING / "early_exit/t5_small_rtx4090.yaml"):
            trace, results, _ = self.trace(config, *FEW)
            self.assertEqual(len(trace.on("iteration")), results["serving"]["counts"]["iterations"])

    def test_requests_of_a_slot_come_one_after_another(self):
        trace, _, _ = self.trace(BENCH)
        slots = {s.track for s in trace.on("request")}
        self.assertEqual(len(trace.on("request")), 1000)
        running = [v for (_, n), v in trace.counters.items() if n == "requests running"][0]
        self.assertLessEqual(len(slots), max(value for _, value in running) + 1)  # one just ended

    def test_the_limit_cuts_the_end_off_and_says_what(self):
        whole, results, told = self.trace(BENCH, *FEW)
        self.assertEqual(told, "")
        part, same, told = self.trace(BENCH, *FEW, "--trace-events", 1000)
        self.assertEqual(same, results)
        left = results["serving"]["counts"]["iterations"] - len(part.on("iteration"))
        self.assertGreater(left, 0)
        self.assertIn("--trace-events", told)
        self.assertIn(f"{left} iterations and 0 requests", told)
        self.assertIn("left_out", " ".join(part.about))
        end = max(s.exact[1] for s in part.slices)
        self.assertTrue(all(s.exact[1] <= end for s in part.slices))
        # Present requests are written to the end: 10 events each, and the name of the slot.
        self.assertLess(len(part.events), 1000 + 60 * (10 + 2) + 200)
        self.assertEqual([s.exact for s in part.on("iteration")],
                         [s.exact for s in whole.on("iteration")][:len(part.on("iteration"))])

    def test_a_trace_changes_no_result_and_repeats_itself(self):
        for config in (SWAP, SPLIT):
            plain = run("run", config, *FEW, "--json")
            for name in ("a.json.gz", "b.json.gz", "c.json"):
                result = run("run", config, *FEW, "--trace", self.folder / name, "--json")
                self.assertEqual(json.loads(result.stdout)["results"], json.loads(plain.stdout)["results"])
            self.assertEqual(Imported(self.folder / "c.json").faults, [])
            a, b, c = ((self.folder / n).read_bytes() for n in ("a.json.gz", "b.json.gz", "c.json"))
            self.assertEqual(a, b)
            self.assertEqual(gzip.decompress(a), c)


class Files(Traced):
    def test_stdout_has_the_trace_and_nothing_else(self):
        for config in (MAPLE, PREFIX):
            result = run("run", config, "--trace", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("traceEvents", json.loads(result.stdout))

    def test_a_run_that_fails_leaves_no_file(self):
        result = run("run", BENCH, "--set", "workload.input.tokens=1000000", "--trace",
                     self.folder / "t.json")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_full_device_is_said(self):
        result = subprocess.run([PROGRAM, "run", str(BENCH), "--trace", "/dev/full"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("/dev/full", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
