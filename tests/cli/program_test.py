"""The program as a user runs it: program_test.py PROGRAM SOURCE_FOLDER."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from program import MAPLE, PROGRAM, SCENARIOS, SOURCE, InFolder, run


class Run(InFolder):
    def test_every_shipped_scenario_runs(self):
        self.assertGreaterEqual(len(SCENARIOS), 8)
        for scenario in SCENARIOS:
            with self.subTest(scenario=scenario.name):
                result = run("run", scenario)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("bounded by", result.stdout)

    def test_json_is_a_record_and_nothing_else_on_stdout(self):
        record = json.loads(run("run", MAPLE, "--json").stdout)
        self.assertEqual(record["schema"], "tiersim.record/v1")
        self.assertEqual(sorted(record), ["config", "provenance", "results", "schema"])
        step = record["results"]["metrics"]["step_time_s"]
        self.assertEqual((step["unit"], step["class"]), ("s", "assumed"))
        self.assertGreaterEqual(step["value"], record["results"]["metrics"]["bound_s"]["value"])
        self.assertTrue(all(number["source"] for number in record["provenance"]["numbers"]))

    def test_two_runs_give_the_same_bytes(self):
        self.assertEqual(run("run", MAPLE, "--json").stdout, run("run", MAPLE, "--json").stdout)

    def test_output_and_trace_are_written_whole(self):
        result = run("run", MAPLE, "-o", self.folder / "r.json", "--trace", self.folder / "t.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        json.loads((self.folder / "r.json").read_text())
        self.assertTrue(json.loads((self.folder / "t.json").read_text())["traceEvents"])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["r.json", "t.json"])

    def test_no_folder_is_made_for_a_file(self):
        for option in ("-o", "--trace"):
            self.expect_failure(run("run", MAPLE, option, self.folder / "typo/r.json"), 2,
                                "there is no folder", "typo")
            self.expect_failure(run("run", MAPLE, option, self.folder), 2, "is a folder")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_summary_shows_where_the_time_goes_and_what_it_costs(self):
        text = run("run", MAPLE).stdout
        self.assertRegex(text, r"(?m)^energy +[0-9.]+ J a token \(class assumed\)$")
        self.assertRegex(text, r"(?m)^cost +[0-9.]+ USD a million tokens \(class assumed\)$")
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
            self.assertNotRegex(path, r"(price|price_per_gb|power|energy_per_\w+)$")
        measured = [f"--set={path}.class=measured" for path in paths]
        metrics = json.loads(run("run", dense, *small, *measured).stdout)["results"]["metrics"]
        classes = {name: metric["class"] for name, metric in metrics.items()}
        self.assertEqual((classes["step_time_s"], classes["bound_s"]), ("measured", "measured"))
        self.assertEqual(classes["energy_j_per_token"], "assumed")
        energy = [f"--set={n['path']}.class=fitted" for n in numbers
                  if n["path"].endswith(("energy_per_byte", "energy_per_flop", "idle_power"))]
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

    def test_what_does_not_fit_says_what_would(self):
        result = run("run", SOURCE / "configs/scenarios/maple/llama2_7b_dense_hbm.yaml",
                     "--set", "step.batch=128")
        self.expect_failure(result, 3, "tier 'hbm' holds", "keys 256 GiB",
                            "the largest batch that fits is")

    def test_a_scenario_that_is_no_scenario(self):
        self.expect_failure(run("run", self.folder / "none.yaml"), 3, "none.yaml:1:1: error")
        (self.folder / "empty.yaml").write_text("")
        self.expect_failure(run("run", self.folder / "empty.yaml"), 3, "empty.yaml:1:1: error")
        self.expect_failure(run("run", self.folder), 3, "error")
        self.expect_failure(run("run", SOURCE / "configs/models/llama2_7b.yaml"), 3,
                            "tiersim.scenario/v1")

    def test_eight_mistakes_are_reported_in_one_go(self):
        (self.folder / "eight.yaml").write_text(f"""schema: tiersim.scenario/v1
base: {SOURCE}/configs/bases/maple_table1.yaml
name: eight mistakes
model: {{base: {SOURCE}/configs/models/llama2_7b.yaml, layerz: 3, heads: many}}
step: {{batch: 0, context: 8192, context: 4096, kv_type: fp61}}
method: {{name: mapel, budget: 0.25}}
system: {{base: {SOURCE}/configs/systems/h200_cxl_pool.yaml, tiers: {{hbm: {{memory: {{latency: 5 GB/s, capacity: 141}}}}}}}}
""")
        result = run("run", self.folder / "eight.yaml")
        self.expect_failure(result, 3)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 8, result.stderr)
        for text in ("layerz", "many", "1 to 1000000", "context", "fp61", "maple", "duration",
                     "no unit"):
            self.assertTrue(any(text in line for line in lines), f"{text}: {result.stderr}")
        for line in lines:
            self.assertRegex(line, r"^.*eight\.yaml:\d+:\d+: error: ")

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "run", str(MAPLE), "--json"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)


class Verbs(InFolder):
    def test_usage_errors_are_exit_2_with_the_nearest_verb(self):
        self.expect_failure(run("rum"), 2, "did you mean 'run'")
        self.expect_failure(run("run"), 2, "CONFIG is required", "tiersim run --help")
        self.expect_failure(run("run", MAPLE, "--nope"), 2, "unknown option '--nope'")
        self.expect_failure(run("run", MAPLE, "--jsno"), 2, "did you mean '--json'?")
        self.expect_failure(run("list", "hw", "--jsno=1"), 2, "did you mean '--json'?")
        self.expect_failure(run(), 2)

    def test_a_wrong_word_below_a_verb_names_those_that_there_are(self):
        self.expect_failure(run("list", "nosuch"), 2, "there is no 'list nosuch'",
                            "one of: hw, models, methods, metrics, scenarios")
        self.expect_failure(run("list", "model"), 2, "did you mean 'list models'?")
        self.expect_failure(run("list"), 2, "what to list?", "hw, models")
        self.expect_failure(run("config", "shwo", MAPLE), 2, "did you mean 'config show'?")
        self.expect_failure(run("completion", "csh"), 2, "bash, zsh, fish")
        self.expect_failure(run("list", "\x1b[31m"), 2, "there is no 'list \\x1b[31m'")

    def test_help_and_version(self):
        self.assertIn("reproduce", run("--help").stdout)
        self.assertRegex(run("--version").stdout, r"^tiersim \d+\.\d+\.\d+\n$")

    def test_lists(self):
        for what in ("hw", "models", "methods", "metrics", "scenarios"):
            rows = json.loads(run("list", what, "--json").stdout)
            self.assertTrue(rows, what)
            self.assertEqual(len(run("list", what).stdout.splitlines()), len(rows) + 2)

    def test_models_are_listed_with_numbers(self):
        models = {m["model"]: m for m in json.loads(run("list", "models", "--json").stdout)}
        self.assertEqual(models["llama2-7b"]["parameters"], 6738415616)
        self.assertEqual(models["llama2-7b"]["kv_bytes_per_token_fp16"], 2 * 32 * 32 * 128 * 2)
        self.assertEqual(models["deepseek-v3"]["kv_bytes_per_token_fp16"], 61 * (512 + 64) * 2)

    def test_a_model_is_read_from_its_hugging_face_file(self):
        config = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 4096,
                  "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000}
        path = self.folder / "Tiny/config.json"
        path.parent.mkdir()
        path.write_text(json.dumps(config))
        shown = run("config", "show", MAPLE, "--set", f"model.hf_config={path}")
        self.assertRegex(shown.stdout, r"name: Tiny +# .*config\.json")
        self.assertNotIn("hf_config", shown.stdout)
        path.write_text(json.dumps({**config, "model_type": "mamba"}))
        self.expect_failure(run("run", MAPLE, "--set", f"model.hf_config={path}"), 3,
                            f"--set 'model.hf_config={path}':1:17: error: model_type 'mamba'")

    def test_schemas_are_those_in_the_tree(self):
        for kind in ("scenario", "system", "model", "targets"):
            shipped = (SOURCE / f"configs/schema/{kind}.schema.json").read_text()
            self.assertEqual(run("config", "schema", kind).stdout, shipped,
                             f"run: tiersim config schema {kind} > configs/schema/{kind}.schema.json")

    def test_show_names_origins_and_can_be_run(self):
        shown = run("config", "show", MAPLE, "--set", "step.batch=64").stdout
        self.assertIn("--set", shown)
        self.assertIn("maple_table1.yaml", shown)
        (self.folder / "shown.yaml").write_text(shown)
        again = run("run", self.folder / "shown.yaml", "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        direct = run("run", MAPLE, "--set", "step.batch=64", "--json")
        self.assertEqual(json.loads(again.stdout)["results"], json.loads(direct.stdout)["results"])

    def test_show_takes_every_kind_of_file(self):
        for folder in ("models", "systems", "devices", "economics", "scenarios"):
            for path in sorted((SOURCE / "configs" / folder).rglob("*.yaml")):
                with self.subTest(path=path.name):
                    shown = run("config", "show", path)
                    self.assertEqual(shown.returncode, 0, shown.stderr)
                    (self.folder / "shown.yaml").write_text(shown.stdout)
                    again = run("config", "show", self.folder / "shown.yaml")
                    strip = lambda text: [line.split("  # ")[0] for line in text.splitlines()]
                    self.assertEqual(strip(again.stdout), strip(shown.stdout))
        hbm = SOURCE / "configs/devices/h200_hbm3e.yaml"
        self.assertRegex(run("config", "show", hbm, "--set", "capacity=80 GB").stdout,
                         r"(?m)^capacity: \{value: 80 GB.*# --set capacity=80 GB$")
        self.expect_failure(run("config", "show", hbm, "--set", "model=drm"), 3, "did you mean 'dram'?")
        self.expect_failure(run("config", "show", hbm, "--set", "pek=1 GB/s"), 3, "did you mean 'peak'?")
        (self.folder / "odd.yaml").write_text("schema: tiersim.modle/v1\n")
        self.expect_failure(run("config", "show", self.folder / "odd.yaml"), 3,
                            "odd.yaml:1:9: error: files of kind 'modle'", "did you mean 'model'?")

    def test_schema_names_the_kinds_that_there_are(self):
        kinds = [line.split()[0] for line in run("config", "schema").stdout.splitlines()[2:]]
        self.assertIn("device", kinds)
        for kind in kinds:
            self.assertIn(f"tiersim.{kind}/v1", json.dumps(json.loads(run("config", "schema", kind).stdout)))
        self.expect_failure(run("config", "schema", "sceanrio"), 2, "did you mean 'scenario'?", "economics")

    def test_completions_name_every_verb(self):
        for shell in ("bash", "zsh", "fish"):
            text = run("completion", shell).stdout
            for verb in ("run", "reproduce", "solve", "config", "list"):
                self.assertIn(verb, text)
        self.assertTrue(run("man").stdout.startswith(".TH TIERSIM 1"))

    def completed(self, *words):
        """What bash offers for the last word, in a folder with a.yaml, b.json and sub/."""
        for name in ("a.yaml", "b.json"):
            (self.folder / name).touch()
        (self.folder / "sub").mkdir(exist_ok=True)
        (self.folder / "script").write_text(run("completion", "bash").stdout)
        quoted = " ".join(f"'{word}'" for word in ("tiersim", *words))
        result = subprocess.run(
            ["bash", "-c", f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; "
                           "_tiersim; printf '%s\\n' \"${COMPREPLY[@]}\""],
            capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual(result.stderr, "")
        return set(result.stdout.split())

    def test_bash_completes_two_levels_files_and_choices(self):
        self.assertLess({"run", "list", "config"}, self.completed(""))
        self.assertEqual(self.completed("li"), {"list"})
        self.assertEqual(self.completed("list", ""), {"hw", "models", "methods", "metrics", "scenarios"})
        self.assertEqual(self.completed("list", "hw", "--j"), {"--json"})
        self.assertEqual(self.completed("config", "s"), {"show", "schema"})
        self.assertIn("device", self.completed("config", "schema", ""))
        self.assertEqual(self.completed("config", "show", ""), {"a.yaml", "sub"})
        self.assertEqual(self.completed("run", ""), {"a.yaml", "sub"})
        self.assertEqual(self.completed("run", "a.yaml", "--tr"), {"--trace"})
        self.assertLess({"a.yaml", "b.json"}, self.completed("run", "a.yaml", "-o", ""))
        self.assertEqual(self.completed("run", "a.yaml", "--set", ""), set())
        self.assertEqual(self.completed("rerun", ""), {"b.json", "sub"})

    def test_shells_take_their_completions(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                (self.folder / shell).write_text(run("completion", shell).stdout)
                result = subprocess.run([shell, "-n", self.folder / shell], capture_output=True,
                                        text=True, timeout=60)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
