"""Output of `tiersim report`: report_test.py PROGRAM SOURCE_FOLDER."""
import csv
import io
import json
import os
import sys
import unittest

from program import MAPLE, NIGHTLY, SOURCE, InFolder, run

TPLA = SOURCE / "configs/scenarios/tpla/deepseek_v3_tpla.yaml"
MLA = SOURCE / "configs/scenarios/tpla/deepseek_v3_mla.yaml"


def footprint(*arguments, **options):
    return run("report", "footprint", *arguments, **options)


class Footprint(InFolder):
    def test_json_has_whole_numbers_of_one_gpu(self):
        report = json.loads(footprint(MLA, TPLA, "--contexts", "32K", "--format", "json").stdout)
        self.assertEqual((report["report"], report["contexts"]), ("footprint", [32768]))
        mla, tpla = report["scenarios"]
        for scenario, elements, heads in ((mla, 576, 64), (tpla, 320, 128)):
            device, hbm = scenario["device"], scenario["tiers"]["hbm"]
            self.assertEqual((device["kv_elements_per_token_layer"], device["query_heads"]), (elements, heads))
            self.assertEqual(hbm["kv_cache_bytes"], 2 * elements * 61 * 16 * 32768)
            self.assertEqual(hbm["weights_bytes"], sum(part["bytes"] for part in device["weights"]))
            self.assertEqual(hbm["sum_bytes"], sum(hbm["by_class_bytes"].values()))
            batch = scenario["largest_batch"][0]["batch"]
            room = hbm["capacity_bytes"] - hbm["weights_bytes"]
            self.assertEqual(batch, room // (2 * elements * 61 * 32768))
            metric = json.loads(run("run", scenario["file"], "--json").stdout)["results"]["metrics"]["max_batch"]
            self.assertEqual(batch, metric["value"])

    def test_without_scenarios_it_is_of_those_of_tpla(self):
        shipped = sorted(path.name for path in TPLA.parent.glob("*.yaml"))
        configs = SOURCE / "configs"
        if not NIGHTLY:  # a folder with three of them
            shipped = ["deepseek_v3_mla.yaml", "deepseek_v3_tpla.yaml", "kimi_k2_tpla.yaml"]
            configs = self.folder / "configs"
            (configs / "scenarios/tpla").mkdir(parents=True)
            for name in shipped:
                (configs / "scenarios/tpla" / name).symlink_to(TPLA.parent / name)
            for path in (SOURCE / "configs").iterdir():
                if path.name != "scenarios":
                    (configs / path.name).symlink_to(path)
        result = footprint("--contexts", "4K", "--format", "json", env={**os.environ, "TIERSIM_CONFIGS": str(configs)})
        self.assertEqual(result.returncode, 0, result.stderr)
        files = [os.path.basename(scenario["file"]) for scenario in json.loads(result.stdout)["scenarios"]]
        self.assertEqual(files, shipped)

    def test_text_says_which_share_of_the_weights_it_is(self):
        text = footprint(TPLA, "--contexts", "1K,128K,1000").stdout
        self.assertRegex(text, r"(?m)^DeepSeek-V3 TPLA TP2 +2 +tensor 2, 2 latent slices +61 +128 +320 +16 +16$")
        self.assertRegex(text, r"(?m)^scenario +q_a +q_b +kv_a +kv_b +o +mlp +embedding +head +other$")
        self.assertIn("(5/9)", text)  # 256 + 64 of 512 + 64
        self.assertRegex(text, r"(?m)^scenario +1K +128K +1000$")

    def test_csv_has_every_byte(self):
        text = footprint(TPLA, "--contexts", "32K", "--format", "csv").stdout
        tables = [list(csv.reader(io.StringIO(table, newline=""))) for table in text.split("\n\n")]
        self.assertEqual(len(tables), 5)
        parts = {row[1]: int(row[2]) for row in tables[2][1:]}
        self.assertEqual(parts["q_b"], 61 * 1536 * 128 * 192)
        self.assertEqual(tables[3][0], ["scenario", "32768"])

    def test_markdown_and_latex(self):
        self.assertEqual(footprint(TPLA, "--format", "md").stdout.count("### "), 6)
        self.assertEqual(footprint(TPLA, "--format", "tex").stdout.count("\\begin{table}"), 6)

    def test_settings_go_to_every_scenario(self):
        report = json.loads(footprint(MLA, TPLA, "--set", "model.base=models/deepseek_v3.yaml", "--set",
                                      "step.batch=2", "--format", "json").stdout)
        for scenario in report["scenarios"]:
            self.assertIn("experts", [part["name"] for part in scenario["device"]["weights"]])
            self.assertEqual(scenario["batch"], 2)
            self.assertFalse(scenario["tiers"]["hbm"]["fits"])
            self.assertEqual({entry["batch"] for entry in scenario["largest_batch"]}, {0})

    def test_what_is_shared_is_of_one_gpu(self):
        pool = ("--set", "system.gpus.count=2", "--set", "system.shared.all=[pool]", "--format", "json")
        one = json.loads(footprint(MAPLE, "--format", "json").stdout)["scenarios"][0]["tiers"]["pool"]
        two = json.loads(footprint(MAPLE, *pool).stdout)["scenarios"][0]["tiers"]["pool"]
        self.assertEqual((one["shared_by_gpus"], two["shared_by_gpus"]), (1, 2))
        self.assertEqual(one["by_class_bytes"], two["by_class_bytes"])

    def test_mistakes(self):
        self.expect_failure(footprint(self.folder / "none.yaml"), 3, "none.yaml:1:1: error")
        self.expect_failure(footprint(TPLA, "--set", "parallel.tensr=2"), 3, "tensr", "did you mean 'tensor'?")
        self.expect_failure(footprint(TPLA, "--format", "html"), 2, "no format 'html' (text, md, csv, tex, json)")
        for length in ("0", "-1", "x", "1k", "1.5K", "96M", "100000001", "99999999999999999999"):
            self.expect_failure(footprint(TPLA, f"--contexts={length}"), 2, f"'{length}' is no length from 1 to 100000000")
        self.expect_failure(footprint(TPLA, "--context", "1K"), 2, "did you mean '--contexts'?")


class Kinds(InFolder):
    def test_the_kinds_are_named(self):
        self.expect_failure(run("report"), 2, "the command 'report' needs one more word", "one of: footprint")
        self.expect_failure(run("report", "footprnt"), 2, "did you mean 'report footprint'?")
        self.assertIn("footprint", run("report", "--help").stdout)

    def test_completions_know_them(self):
        for shell in ("bash", "zsh", "fish"):
            script = run("completion", shell).stdout
            self.assertIn("report footprint" if shell != "fish" else "from report' -f -a footprint", script)
            self.assertIn("contexts", script)
            self.assertIn("text md csv tex json", script)
        self.assertIn(".B report footprint\n", run("man").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
