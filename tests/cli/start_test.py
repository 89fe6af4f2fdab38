"""Where a new user starts: examples, cite, config init. start_test.py PROGRAM SOURCE_FOLDER."""
import functools
import json
import os
import re
import shlex
import sys
import unittest

from program import MAPLE, NIGHTLY, SOURCE, InFolder, run

CONFIGS = SOURCE / "configs"
STARTS = {  # kind: the shipped file that a new one starts from
    "scenario": "scenarios/methods/llama3_8b_maple.yaml",
    "serving": "serving/llama3_8b_h100_poisson.yaml",
    "sweep": "sweeps/decode_1000.yaml",
    "server": "servers/vllm_v1.yaml",
    "system": "systems/h200_cxl_pool.yaml",
    "model": "models/llama3_8b.yaml",
    "device": "devices/gh200_lpddr5x.yaml",
    "economics": "economics/default.yaml",
}


@functools.cache
def examples():
    return json.loads(run("examples", "--json").stdout)


class Examples(InFolder):
    def test_there_are_some_of_each_kind_each_with_what_it_shows(self):
        rows = examples()
        self.assertTrue(12 <= len(rows) <= 20, len(rows))
        self.assertEqual({row["kind"] for row in rows}, {"scenario", "serving", "sweep"})
        text = run("examples").stdout
        for row in rows:
            self.assertTrue((CONFIGS / row["file"]).is_file(), row)
            self.assertIn(row["description"], (CONFIGS / row["file"]).read_text())
            self.assertGreater(len(row["description"]), 20, row)
            self.assertRegex(text, rf"(?m)^{re.escape(row['command'])} +{re.escape(row['description'])}$")

    def test_every_command_runs_from_any_folder(self):
        # The documents run most of them on every change (tutorial_test.py).
        first = {row["kind"]: row for row in reversed(examples())}
        for row in examples() if NIGHTLY else first.values():
            words = shlex.split(row["command"])
            self.assertEqual(words[0], "tiersim")
            more = ["--dry-run"] if words[1] == "sweep" else []
            result = run(*words[1:], *more, cwd=self.folder)
            self.assertEqual((result.returncode, bool(result.stdout)), (0, True), result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class Cite(unittest.TestCase):
    def facts(self):
        """Top-level `key: value` lines of CITATION.cff, without quotes."""
        text = (SOURCE / "CITATION.cff").read_text()
        return {key: value.strip('"') for key, value in re.findall(r"^([\w-]+): (.+)$", text, re.M)}

    def test_bibtex_and_citation_file_agree(self):
        facts, bibtex = self.facts(), run("cite").stdout
        self.assertTrue(bibtex.startswith("@software{tiersim,\n") and bibtex.endswith("}\n"), bibtex)
        self.assertEqual(bibtex.count("{"), bibtex.count("}"))
        fields = dict(re.findall(r"^  (\w+) *= \{+(.*?)\}+,?$", bibtex, re.M))
        for field in ("title", "version", "license"):
            self.assertEqual(fields[field], facts[field])
        self.assertIn(f'name: "{fields["author"]}"', (SOURCE / "CITATION.cff").read_text())
        self.assertEqual(fields.get("year"), facts["date-released"][:4] if "date-released" in facts else None)

    def test_the_version_is_that_of_the_program_and_of_cmake(self):
        version = self.facts()["version"]
        self.assertEqual(run("--version").stdout, f"tiersim {version}\n")
        self.assertIn(f"project(tiersim VERSION {version} ", (SOURCE / "CMakeLists.txt").read_text())


class Init(InFolder):
    def values(self, file):
        """The effective configuration, without the origins of its values."""
        result = run("config", "show", file)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.split("  # ")[0] for line in result.stdout.splitlines()]

    def test_a_new_file_reads_as_the_shipped_one_it_starts_from(self):
        for kind, start in STARTS.items():
            file = self.folder / f"{kind}.yaml"
            result = run("config", "init", kind, "-o", file)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            self.assertEqual(self.values(file), self.values(CONFIGS / start), kind)

    def test_its_first_lines_name_schema_and_kind(self):
        for kind in STARTS:
            lines = run("config", "init", kind).stdout.splitlines()
            schema = CONFIGS / f"schema/{kind}.schema.json"
            self.assertEqual(lines[0], f"# yaml-language-server: $schema={os.path.realpath(schema)}")
            self.assertIn(f"schema: tiersim.{kind}/v1", lines)

    def test_a_new_scenario_runs_to_the_same_record(self):
        file = self.folder / "mine.yaml"
        run("config", "init", "scenario", "-o", file)
        results = [json.loads(run("run", path, "--json").stdout)["results"]
                   for path in (file, CONFIGS / STARTS["scenario"])]
        self.assertEqual(results[0], results[1])

    def test_a_comment_above_each_key_says_what_it_is(self):
        lines = run("config", "init", "model").stdout.splitlines()
        keys = [i for i, line in enumerate(lines) if re.match(r"#?\w+:", line)]
        for at in keys[1:]:  # after `schema:`
            self.assertRegex(lines[at - 1], r"^# ")
        text = " ".join(line.removeprefix("# ") for line in lines)
        for words in ("Required.", "Optional.", "Allowed: "):
            self.assertIn(words, text)

    def test_a_default_without_its_mark_loads_and_changes_nothing(self):
        for kind in STARTS:
            text = run("config", "init", kind).stdout
            file = self.folder / "mine.yaml"
            file.write_text(text)
            before = self.values(file)
            for line in re.findall(r"(?m)^#\w+: [^<\[{\n]+$", text):
                if re.match(r"#(base|hf_config|calibration):", line):
                    continue
                file.write_text(text.replace("\n" + line + "\n", "\n" + line[1:] + "\n"))
                self.assertEqual(self.values(file), before, f"{kind}: {line}")

    def test_another_file_to_start_from(self):
        file = self.folder / "link.yaml"
        run("config", "init", "device", "--from", "devices/cxl_port_gen5_x16.yaml", "-o", file)
        self.assertEqual(self.values(file), self.values(CONFIGS / "devices/cxl_port_gen5_x16.yaml"))
        self.expect_failure(run("config", "init", "model", "--from", "devices/cxl_port_gen5_x16.yaml"), 3,
                            "tiersim.model/v1")

    def test_it_writes_over_no_file_and_knows_its_kinds(self):
        file = self.folder / "mine.yaml"
        file.write_text("mine\n")
        self.expect_failure(run("config", "init", "scenario", "-o", file), 2, "is there already")
        self.assertEqual(file.read_text(), "mine\n")
        self.expect_failure(run("config", "init", "scenaro"), 2, "did you mean 'scenario'?")
        self.expect_failure(run("config", "init", "targets"), 2, "there is no file of kind 'targets' to start from")


class OwnCard(InFolder):
    """A card that is not shipped is a system file of ten lines."""
    CARDS = {  # name: base, bf16 TFLOP/s, SMs, GB, GB/s
        "a30": ("a100_host_dram", 165, 56, 24, 933),
        "rtx6000_ada": ("l40s_host_dram", 364, 142, 48, 960),
        "h100_94": ("h100_host_dram", 989, 132, 94, 2400),
    }

    def write(self, name, peak="peak_bf16"):
        base, flops, sms, capacity, bandwidth = self.CARDS[name]
        file = self.folder / f"{name}.yaml"
        file.write_text(f"""schema: tiersim.system/v1
base: systems/{base}.yaml
name: {name}
gpu:
  part: {name}
  {peak}: {{value: {flops} TFLOP/s, class: specification, source: data sheet}}
  sms: {{value: {sms}, class: specification, source: device properties}}
tiers: {{hbm: {{memory: {{capacity: {capacity} GB, peak: {bandwidth} GB/s}}}}}}
""")
        self.assertLessEqual(len(file.read_text().splitlines()), 10)
        return file

    def test_three_of_them_run_and_reach_no_more_than_their_memory_and_arithmetic(self):
        scenario = CONFIGS / "scenarios/methods/llama3_8b_dense_hbm.yaml"
        for name, (_, flops, _, _, bandwidth) in self.CARDS.items():
            result = run("run", scenario, "--set", f"system.base={self.write(name)}", "--set", "step.batch=1",
                         "--set", "step.context=2048", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            record = json.loads(result.stdout)
            metrics = record["results"]["metrics"]
            seconds = metrics["step_time_s"]["value"]
            read = sum(record["results"]["footprint_by_class_bytes"]["hbm"][part] for part in ("weights", "keys", "values"))
            self.assertGreater(seconds, 0.9 * read / (bandwidth * 1e9), name)
            self.assertLess(metrics["step_flops"]["value"] / seconds, flops * 1e12, name)

    def test_a_misspelt_key_is_named_at_its_place(self):
        file = self.write("a30", peak="peak_bf61")
        self.expect_failure(run("run", MAPLE, "--set", f"system.base={file}"), 3,
                            f"{file}:6:3: error: system.gpu: unknown key 'peak_bf61' (did you mean 'peak_bf16'?)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
