"""The program as a user runs it: program_test.py PROGRAM SOURCE_FOLDER."""
import functools
import json
import os
import shutil
import subprocess
import sys
import unittest

from program import MAPLE, NIGHTLY, PROGRAM, SCENARIOS, SOURCE, InFolder, run

# Lists of many files that no other test prints as text.
LONG_LISTS = ("hw", "devices")


@functools.cache
def listed(what, *options):
    """What `list` prints; some take a second, so each runs once."""
    return run("list", what, *options).stdout


class Run(InFolder):
    def test_every_output_that_cannot_be_written_is_an_error(self):
        for command in (["--version"], ["--help"], ["list", "models"]):
            with self.subTest(command), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 1)
                self.assertIn("cannot write to standard output", result.stderr)

    def test_a_message_quotes_a_part_of_a_foreign_file(self):
        foreign = self.folder / "foreign.txt"
        foreign.write_text("root:x:0:0 " * 30_000 + "\n" + "x" * 100_000)
        scenario = self.folder / "a.yaml"
        scenario.write_text(f"schema: tiersim.scenario/v1\nbase: {foreign}\nname: a\nstep: {{batch: {'a' * 9000}}}\n")
        result = run("run", scenario)
        self.assertEqual(result.returncode, 3)
        self.assertIn("expected a mapping, found 'root:x:0:0", result.stderr)
        self.assertLess(len(result.stderr), 1500)

    def test_a_named_pipe_is_not_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        for command in (["run"], ["sweep"], ["rerun"]):
            result = run(*command, self.folder / "pipe", timeout=20)
            self.assertIn("is a named pipe", result.stderr)
            self.assertIn(result.returncode, (2, 3))

    def test_every_shipped_scenario_runs(self):
        self.assertGreaterEqual(len(SCENARIOS), 8)
        # Golden and validation tests run the others of a folder, though without the program's text.
        first = {scenario.parent: scenario for scenario in reversed(SCENARIOS)}
        for scenario in SCENARIOS if NIGHTLY else first.values():
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

    def test_what_does_not_fit_says_what_would(self):
        result = run("run", SOURCE / "configs/scenarios/maple/llama2_7b_dense_hbm.yaml",
                     "--set", "step.batch=128")
        self.expect_failure(result, 3, "tier 'hbm' holds", "keys 256 GiB",
                            "the largest batch that fits is")

    def test_what_cannot_be_counted_is_at_the_option_that_asks_for_it(self):
        peak = ("--set", "system.tiers.pool.memory.peak=110 TB/s")
        factor = ("--set", "what_if.far_bandwidth=1000")
        for options, at in (((*peak, *factor), "--set 'what_if.far_bandwidth=1000':1:"),
                            ((*factor, *peak), "--set 'system.tiers.pool.memory.peak=110 TB/s':1:")):
            result = run("run", MAPLE, *options, "--set", "step.batch=2")
            self.expect_failure(result, 3, at, "beyond what can be counted", "(smaller sizes or rates)")
            self.assertNotIn("smaller batch", result.stderr)

    def test_another_kind_over_a_base_says_where_its_keys_come_from(self):
        # An option that chooses another kind takes the keys of the old one away.
        result = run("run", MAPLE, "--set", "method.name=dense")
        self.expect_failure(result, 3, "missing required key 'kv_tier'")
        self.assertNotIn("unknown key", result.stderr)
        result = run("run", MAPLE, "--set", "method={name: dense, kv_tier: far}", "--set", "step.batch=2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        method = json.loads(result.stdout)["config"]["method"]
        self.assertEqual([key for key in method if key in ("name", "kv_tier", "budget", "key_type", "rank_ratio")],
                         ["name", "kv_tier"])
        result = run("run", MAPLE, "--set", "method={name: dense, kv_tier: far, colour: red}")
        self.expect_failure(result, 3, "unknown key 'colour' (known keys: ")
        self.assertEqual(result.stderr.count("unknown key"), 1, result.stderr)
        (self.folder / "d.yaml").write_text(f"""schema: tiersim.device/v1
base: {SOURCE}/configs/devices/h200_hbm3e.yaml
model: nvme
""")
        result = run("config", "show", self.folder / "d.yaml")
        self.expect_failure(result, 3, "d.yaml:3:8: error: unknown keys 'read_efficiency', ")
        self.assertEqual(result.stderr.count("unknown key"), 1, result.stderr)
        # An override of a kind that is in a base is a separate mistake.
        result = run("run", MAPLE, "--set", "method.colour=red")
        self.expect_failure(result, 3, "unknown key 'colour' (known keys: ")

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



class Verbs(InFolder):
    def test_usage_errors_are_exit_2_with_the_nearest_verb(self):
        self.expect_failure(run("rum"), 2, "there is no command 'rum'; did you mean 'run'?",
                            "the command is one of: run, sweep, ", "`tiersim --help` explains")
        self.expect_failure(run("reprodce"), 2, "there is no command 'reprodce'; did you mean 'reproduce'?")
        # No name is near.
        unknown = run("polish")
        self.expect_failure(unknown, 2, "there is no command 'polish'\n")
        self.assertNotIn("did you mean", unknown.stderr)
        self.expect_failure(run("run"), 2, "CONFIG is required", "tiersim run --help")
        self.expect_failure(run("run", MAPLE, "--nope"), 2, "unknown option '--nope'")
        self.expect_failure(run("run", MAPLE, "--jsno"), 2, "did you mean '--json'?")
        self.expect_failure(run("list", "hw", "--jsno=1"), 2, "did you mean '--json'?")
        self.expect_failure(run(), 2)

    def test_a_wrong_word_below_a_verb_names_those_that_there_are(self):
        self.expect_failure(run("list", "nosuch"), 2, "there is no command 'list nosuch'",
                            "the word after 'list' is one of: hw, kinds, devices, systems, topologies, calibrations, models, methods, metrics, scenarios")
        self.expect_failure(run("list", "model"), 2, "did you mean 'list models'?")
        self.expect_failure(run("list"), 2, "the command 'list' needs one more word", "hw, kinds, devices")
        self.expect_failure(run("config", "shwo", MAPLE), 2, "did you mean 'config show'?")
        self.expect_failure(run("completion", "csh"), 2, "bash, zsh, fish")
        self.expect_failure(run("list", "\x1b[31m"), 2, "there is no command 'list \\x1b[31m'")

    def test_help_and_version(self):
        self.assertIn("reproduce", run("--help").stdout)
        self.assertRegex(run("--version").stdout, r"^tiersim \d+\.\d+\.\d+\n$")

    def test_configurations_without_a_folder(self):
        elsewhere = {**os.environ, "TIERSIM_CONFIGS": str(self.folder)}
        self.expect_failure(run("list", "models", env=elsewhere), 2, "there is no folder", "models")
        doctor = run("doctor", env=elsewhere)
        self.assertEqual(doctor.returncode, 2)
        self.assertIn(str(self.folder), doctor.stdout)
        self.assertRegex(doctor.stdout, "(?m)^targets +none$")

    def test_lists(self):
        for what in ("hw", "kinds", "devices", "systems", "topologies", "calibrations", "models", "methods", "metrics",
                     "scenarios"):
            rows = json.loads(listed(what, "--json"))
            self.assertTrue(rows, what)
            if NIGHTLY or what not in LONG_LISTS:
                self.assertEqual(len(listed(what).splitlines()), len(rows) + 2)

    def test_hardware_is_listed_with_the_part_of_a_calibration_and_with_counts_of_zero(self):
        hardware = {row["file"]: row for row in json.loads(listed("hw", "--json"))}
        self.assertEqual(hardware["devices/gb200_gpu.yaml"]["calibrated_by"],
                         ["gb200/trtllm-1.3.0rc20/latent", "gb200/vllm-0.1.dev19262", "gb200/vllm-0.24.0"])
        for row in hardware.values():
            for number_class in ("measured", "fitted", "specification", "announced", "assumed"):
                self.assertIsInstance(row[number_class], int, row["file"])
        self.assertGreater(hardware["devices/rubin_hbm4.yaml"]["announced"], 0)

    def test_models_are_listed_with_numbers(self):
        models = {m["model"]: m for m in json.loads(listed("models", "--json"))}
        self.assertEqual(models["llama2-7b"]["parameters"], 6738415616)
        self.assertEqual(models["llama2-7b"]["kv_bytes_per_token_fp16"], 2 * 32 * 32 * 128 * 2)
        self.assertEqual(models["deepseek-v3"]["kv_bytes_per_token_fp16"], 61 * (512 + 64) * 2)
        self.assertEqual(models["glm-5.2"]["kv_bytes_per_token_fp16"], 78 * (512 + 64) * 2 + 21 * 132)
        self.assertEqual(models["minimax-m3"]["kv_bytes_per_token_fp16"], 60 * 2 * 4 * 128 * 2 + 57 * 256)
        self.assertEqual(models["minimax-m3"]["full_attention_layers"], 60)

    def test_systems_are_listed_with_tiers_and_what_is_shared(self):
        systems = {s["system"]: s for s in json.loads(listed("systems", "--json"))}
        files = sorted(p.name for p in (SOURCE / "configs/systems").glob("*.yaml"))
        self.assertEqual(sorted(s["file"].removeprefix("systems/") for s in systems.values()), files)
        pool = systems["h200-cxl-pool"]
        self.assertEqual((pool["gpu"], pool["gpus"], pool["hosts"]), ("h200_gpu", 1, 1))
        self.assertIn({"tier": "hbm", "capacity_bytes": 143771 * 2**20}, pool["tiers"])
        self.assertEqual(systems["h200-cxl-pool-2hosts"]["hosts"], 2)
        self.assertIn("pool", systems["h200-cxl-pool-2hosts"]["shared_by_all"])
        self.assertRegex(listed("systems"), r"(?m)^h200-cxl-pool +h200_gpu +1 +hbm 143771 MiB, ")

    def test_topologies_are_listed_with_their_gpus(self):
        topologies = {t["file"]: t for t in json.loads(listed("topologies", "--json"))}
        self.assertEqual(len(topologies), len(list((SOURCE / "configs/topologies").glob("*.yaml"))))
        racks = topologies["topologies/gb200_nvl72_racks_400g.yaml"]
        self.assertEqual((racks["gpus"], racks["domain"]), (1152, 72))

    def test_calibrations_are_listed_with_what_their_timings_are(self):
        calibrations = {c["calibration"]: c for c in json.loads(listed("calibrations", "--json"))}
        root = SOURCE / "configs/calibration"
        self.assertEqual(sorted(calibrations),
                         sorted(str(p.parent.relative_to(root)) for p in root.glob("**/gpu.yaml")))
        example = calibrations["synthetic/2026-01-01-example"]
        self.assertEqual((example["part"], example["class"]), ("synthetic", "assumed"))
        self.assertIn("gemm", example["families"])
        self.assertRegex(listed("calibrations"),
                         r"(?m)^synthetic/2026-01-01-example +synthetic +assumed +.*gemm, ")

    def test_devices_are_listed_with_the_number_that_they_are_known_by(self):
        devices = {d["file"]: d for d in json.loads(listed("devices", "--json"))}
        self.assertEqual(sorted(devices), sorted(
            f"devices/{p.name}" for p in (SOURCE / "configs/devices").glob("*.yaml")))
        gpu = devices["devices/h200_gpu.yaml"]
        self.assertEqual((gpu["category"], gpu["model"], gpu["known_by"], gpu["value"], gpu["unit"]),
                         ("compute", "roofline_gpu", "peak_bf16", 989e12, "FLOP/s"))
        hbm = devices["devices/h200_hbm3e.yaml"]
        self.assertEqual((hbm["category"], hbm["value"], hbm["unit"]), ("memory", 143771 * 2**20, "B"))
        switch = devices["devices/cxl_switch.yaml"]
        self.assertEqual((switch["category"], switch["unit"]), ("link", "s"))

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
        kinds = {path.name.removesuffix(".schema.json")
                 for path in (SOURCE / "configs/schema").glob("*.json")} - {"campaign"}
        self.assertGreaterEqual(len(kinds), 12)
        for kind in sorted(kinds):
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
        every = 1 if NIGHTLY else 15
        for folder in ("models", "systems", "devices", "economics", "scenarios"):
            for path in sorted((SOURCE / "configs" / folder).rglob("*.yaml"))[::every]:
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
        """The completions of bash for the last word, in a folder with a.yaml, b.json and sub/."""
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
        self.assertEqual(self.completed("list", ""), {"hw", "kinds", "devices", "systems", "topologies", "calibrations", "models", "methods", "metrics", "scenarios", "serving"})
        self.assertEqual(self.completed("list", "hw", "--j"), {"--json"})
        self.assertEqual(self.completed("config", "s"), {"show", "schema"})
        self.assertIn("device", self.completed("config", "schema", ""))
        self.assertEqual(self.completed("config", "show", ""), {"a.yaml", "sub"})
        self.assertEqual(self.completed("run", ""), {"a.yaml", "sub"})
        self.assertEqual(self.completed("run", "a.yaml", "--tr"), {"--trace", "--trace-events", "--trace-kernels"})
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
