"""Output of `tiersim run`, and records run again: record_test.py PROGRAM SOURCE_FOLDER."""
import json
import os
import subprocess
import sys
import unittest

from program import MAPLE, PROGRAM, SOURCE, InFolder, run


class Record(InFolder):
    def test_records_are_what_their_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(run("config", "schema", "record").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        configs = SOURCE / "configs"
        served = sorted((configs / "serving").rglob("*.yaml"))
        files = [MAPLE, *sorted((configs / "scenarios/methods").glob("*.yaml"))[:3], *served[:3]]
        for path in files:
            few = ("--set", "workload.sessions.count=4") if path.name.startswith("agents_") else ()
            result = run("run", path, "--json", *few)
            self.assertEqual(result.returncode, 0, result.stderr)
            record = json.loads(result.stdout)
            self.assertEqual([e.message for e in validator.iter_errors(record)], [], path)
            for wrong in ("metrics", "device", "humidity"):  # missing, and unknown
                other = json.loads(result.stdout)
                if other["results"].pop(wrong, None) is None:
                    other["results"][wrong] = 1
                self.assertFalse(validator.is_valid(other), wrong)
            next(iter(record["results"]["metrics"].values()))["class"] = "sure"
            self.assertFalse(validator.is_valid(record), path)

    def test_a_record_runs_again_to_the_same_results(self):
        run("run", MAPLE, "-o", self.folder / "r.json")
        result = run("rerun", self.folder / "r.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("same results", result.stdout)
        self.assertEqual(json.loads(run("rerun", self.folder / "r.json", "--json").stdout)["same"], True)

    def edited_record(self, edit, *arguments):
        record = json.loads(run("run", MAPLE, "--json", *arguments).stdout)
        edit(record)
        path = self.folder / "edited.json"
        path.write_text(json.dumps(record, indent=1))
        return path

    def test_rerun_names_what_differs_and_the_versions(self):
        def edit(record):
            record["results"]["metrics"]["step_time_s"]["value"] = 1.5
            record["results"]["time_split"][0]["seconds"] = 2
            del record["results"]["bounded_by"]
            record["provenance"]["tiersim_version"] = "0.0.9"
        path = self.edited_record(edit)
        result = run("rerun", path)
        self.assertEqual(result.returncode, 5)
        for name, before in (("metrics.step_time_s.value", "1.5"), ("bounded_by", "-"),
                             ("time_split.weights.seconds", "2")):
            self.assertRegex(result.stdout, rf"(?m)^{name} +{before} +\S+$")
        self.assertEqual(len(result.stdout.splitlines()), 2 + 3)
        self.assertIn("of tiersim 0.0.9, this is 0.", result.stderr)
        machine = json.loads(run("rerun", path, "--json").stdout)
        self.assertEqual([d["record"] for d in machine["differences"]], [1.5, 2, None])

    def test_rerun_takes_a_number_as_the_same_however_it_is_written(self):
        def edit(record):
            for metric in record["results"]["metrics"].values():
                metric["value"] = float(metric["value"])
        self.assertEqual(run("rerun", self.edited_record(edit)).returncode, 0)

    def test_rerun_of_an_edited_configuration(self):
        def step(record):
            record["config"]["step"]["batch"] = 64
        result = run("rerun", self.edited_record(step))
        self.assertEqual(result.returncode, 5)
        self.assertIn("the configuration is not the one that was run", result.stderr)

        def gone(record):
            record["config"]["step"]["bacth"] = record["config"]["step"].pop("batch")
        path = self.edited_record(gone)
        line = 1 + path.read_text()[:path.read_text().index("bacth")].count("\n")
        self.expect_failure(run("rerun", path), 3, "the configuration of a record of tiersim 0.",
                            f"edited.json:{line}:4: error: step: unknown key 'bacth'")

    def test_rerun_of_what_is_no_record(self):
        for text in ("", "[]", "{", "schema: tiersim.record/v1", '{"schema": "tiersim.record/v1"}'):
            (self.folder / "none.json").write_text(text)
            self.expect_failure(run("rerun", self.folder / "none.json"), 3, "none.json:1:1: error: ")
        self.expect_failure(run("rerun", MAPLE), 3, "error: is not JSON")

    def test_a_name_of_any_text_runs_again(self):
        name = "\\e[31m \\x7f \\x9b \u00e9 \u6e2c \U0001f600 \\\" \\n x"
        path = self.folder / "r.json"
        result = run("run", MAPLE, "-o", path, "--set", f'name="{name}"')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run("rerun", path).returncode, 0, run("rerun", path).stderr)

    def test_times_rest_on_the_numbers_of_what_the_step_uses(self):
        dense = SOURCE / "configs/scenarios/maple/llama2_7b_dense_hbm.yaml"
        small = ("--set", "step.batch=8", "--json")
        numbers = json.loads(run("run", dense, *small).stdout)["provenance"]["numbers"]
        paths = [n["path"] for n in numbers if n["in_times"]]
        self.assertTrue(paths)
        for path in paths:  # no far tier, and no link to it
            self.assertRegex(path, r"^system\.(gpu|tiers\.hbm)\.")
            self.assertNotRegex(path, r"(price|price_per_gb|power|power_exponent|least_clock|energy_per_\w+)$")
        measured = [f"--set={path}.class=measured" for path in paths]
        metrics = json.loads(run("run", dense, *small, *measured).stdout)["results"]["metrics"]
        classes = {name: metric["class"] for name, metric in metrics.items()}
        self.assertEqual((classes["step_time_s"], classes["bound_s"]), ("measured", "measured"))
        self.assertEqual(classes["energy_j_per_token"], "assumed")
        energy = [f"--set={n['path']}.class=fitted" for n in numbers
                  if n["path"].endswith(("energy_per_byte", "energy_per_flop", "idle_power", "active_power"))]
        metrics = json.loads(run("run", dense, *small, *measured, *energy).stdout)["results"]["metrics"]
        self.assertEqual(metrics["energy_j_per_token"]["class"], "fitted")
        self.assertEqual(metrics["cost_usd_per_mtoken"]["class"], "assumed")

    def test_counts_are_whole_numbers(self):
        metrics = json.loads(run("run", MAPLE, "--json").stdout)["results"]["metrics"]
        for name, metric in metrics.items():
            if metric["unit"] in ("B", "FLOP", "sequences", "tokens"):
                self.assertIsInstance(metric["value"], int, name)
        self.assertEqual(metrics["kv_footprint_bytes"]["value"], 544 * 2**30)
        self.assertIsInstance(metrics["step_time_s"]["value"], float)

    def test_a_record_on_stdout_is_alone_there(self):
        record = run("run", MAPLE, "--json").stdout
        self.assertEqual(run("run", MAPLE, "-o", "-").stdout, record)
        self.assertEqual(run("run", MAPLE, "-o", "-", "--json").stdout, record)


class Intervals(InFolder):
    NARROW = ("--set", "system.tiers.hbm.memory.read_efficiency.ci95=[0.9, 0.94]")
    # Without the intervals of the card.
    POWERS = ("--set", "system.gpu.active_power=337 W", "--set", "system.gpu.energy_per_flop=0.77 pJ/FLOP",
              "--set", "system.gpu.power_exponent=3")

    def test_a_run_with_an_interval_has_one_on_every_time_and_runs_again(self):
        path = self.folder / "r.json"
        summary = run("run", MAPLE, *self.POWERS, *self.NARROW, "--set", "uncertainty.draws=60", "-o", path).stdout
        record = json.loads(path.read_text())
        self.assertEqual(record["provenance"]["intervals"], {"draws": 60, "seed": 1, "numbers": 1})
        for name, metric in record["results"]["metrics"].items():
            self.assertEqual("ci95" in metric, metric["unit"] in ("s", "tokens/s", "J", "W", "USD"), name)
            if "ci95" in metric:
                self.assertLessEqual(metric["ci95"][0], metric["value"], name)
                self.assertGreaterEqual(metric["ci95"][1], metric["value"], name)
        for kernel in record["results"]["kernel_times"]:
            self.assertEqual(list(kernel), ["family", "seconds", "class", "basis", "source", "ci95"])
        number = next(n for n in record["provenance"]["numbers"] if "ci95" in n)
        self.assertEqual(number["ci95"], ["0.9", "0.94"])
        self.assertTrue(number["source"].endswith("; interval from the command line"))
        self.assertRegex(summary, r"(?m)^step +[0-9.]+ m?s  \[[0-9.]+ m?s, [0-9.]+ m?s\]   bound ")
        self.assertIn("from 60 draws of the number that has one", summary)
        again = run("rerun", path)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_a_record_without_one_says_nothing_of_intervals(self):
        text = run("run", MAPLE, *self.POWERS, "--json").stdout
        for word in ("ci95", "intervals", "uncertainty"):
            self.assertNotIn(f'"{word}"', text)

    def test_the_power_of_a_card_gives_energy_and_cost_an_interval_and_no_time(self):
        path = self.folder / "r.json"
        summary = run("run", MAPLE, "-o", path).stdout
        record = json.loads(path.read_text())
        self.assertEqual(record["provenance"]["intervals"], {"draws": 180, "seed": 1, "numbers": 2})
        for name, metric in record["results"]["metrics"].items():
            self.assertEqual("ci95" in metric, metric["unit"] in ("J", "W", "USD"), name)
        self.assertRegex(summary, r"(?m)^step +[0-9.]+ s   bound ")
        self.assertRegex(summary, r"(?m)^family +time +basis +class +source$")
        self.assertRegex(summary, r"(?m)^energy +[0-9.]+ J a token  \[[0-9.]+, [0-9.]+\] \(class assumed\)$")
        self.assertIn("from 180 draws of the 2 numbers that have one", summary)
        again = run("rerun", path)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_a_draw_that_cannot_run_is_told_at_the_interval(self):
        option = "system.tiers.hbm.memory.capacity.ci95=[1 GB, 151 GB]"
        self.expect_failure(run("run", MAPLE, "--set", option), 3,
                            f"--set '{option}':1:34: error: draw ",
                            " of 180 from the 95 % intervals cannot run: tier 'hbm' holds ",
                            "(narrower intervals, or room for what they hold)")

    def test_config_show_says_what_each_kernel_family_rests_on(self):
        always = ["gemm", "attention", "grouped_attention", "gathered_attention", "latent_attention",
                  "prefill_attention", "screening", "elementwise"]
        linear = ["linear_attention", "causal_conv"]
        for file, families in ((MAPLE, [*always, *linear]),
                               (SOURCE / "configs/devices/h200_gpu.yaml", [*always, "experts", *linear, "batched_gemm"])):
            lines = run("config", "show", file).stdout.splitlines()
            at = next(i for i, line in enumerate(lines) if line.startswith("# kernel times: 1. fitted"))
            self.assertEqual([line.split()[1] for line in lines[at + 1:]], families)
        self.assertNotIn("kernel times", run("config", "show", SOURCE / "configs/devices/h200_hbm3e.yaml").stdout)


class Summary(InFolder):
    def test_the_summary_shows_where_the_time_goes_and_what_it_costs(self):
        text = run("run", MAPLE).stdout
        self.assertRegex(text, r"(?m)^energy +[0-9.]+ J a token  \[[0-9.]+, [0-9.]+\] \(class assumed\)$")
        self.assertRegex(text, r"(?m)^cost +[0-9.]+ USD a million tokens  \[[0-9.]+, [0-9.]+\] \(class assumed\)$")
        self.assertRegex(text, r"(?m)^link_wait +[0-9.]+ s +9[0-9]\.[0-9] %  #{25,30}$")
        self.assertRegex(text, r"(?m)^latency .* < 0\.1 %$")
        self.assertNotIn(" 0.0 %", text)
        self.assertNotIn("GPU 0", text)

    def test_the_summary_of_several_gpus_says_of_how_many_a_number_is(self):
        one = json.loads(run("run", MAPLE, "--json").stdout)["results"]["traffic_bytes"]["pool"]["read"]
        text = run("run", MAPLE, "--set", "system.gpus.count=2", "--set", "system.shared.all=[pool]").stdout
        self.assertRegex(text, r"(?m)^gpus +2, ")
        self.assertRegex(text, r"(?m)^throughput [0-9.]+ tokens/s on all GPUs, [0-9.]+ on each$")
        self.assertRegex(text, rf"(?m)^pool +{2 * one >> 30} GiB .* one for 2 GPUs$")
        self.assertRegex(text, r"(?m)^hbm .* each GPU has one$")
        self.assertIn("(GPU 0)", text)

    def test_no_name_is_obeyed_by_the_terminal(self):
        name = r'"\e]0;x\a \x9b2J \u202e\nfake line"'
        for arguments in (["--set", f"name={name}"], ["--set", f"name={name}", "--set", "step.batch=1000000"],
                          ["--set", f"placement.far={name}"], ["--set", f"system.{name}=1"],
                          ["--set", "a\x1b[31m"], [f"--\x1b[31m"], ["-o", self.folder / "\x1b[31m/x"]):
            result = run("run", MAPLE, *arguments)
            for character in "\x1b\a\x9b\u202e":
                self.assertNotIn(character, result.stdout + result.stderr, arguments)
            self.assertNotRegex(result.stdout + result.stderr, "(?m)^fake line")


class OddFiles(InFolder):
    def test_what_cannot_be_written_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        for arguments in (["run", MAPLE, "--json"], ["run", MAPLE], ["run", MAPLE, "-o", "-"], ["man"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full,
                                        stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot write to standard output: No space left", result.stderr)
        self.expect_failure(run("run", MAPLE, "-o", "/dev/full"), 2, "No space left")

    def test_a_closed_stdout_is_no_internal_error(self):
        for arguments in (["run", MAPLE, "--json"], ["run", MAPLE], ["list", "hw"]):
            result = subprocess.run(["sh", "-c", '"$@" >&-', "sh", PROGRAM, *map(str, arguments)],
                                    stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot write to standard output", result.stderr)

    def test_a_file_without_end_is_refused(self):
        self.expect_failure(run("run", "/dev/zero"), 3, "/dev/zero:1:1: error: cannot read", "is larger than 16 MiB")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
