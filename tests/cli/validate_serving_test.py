"""`tiersim validate serving`: validate_serving_test.py PROGRAM SOURCE_FOLDER."""
import collections
import json
import os
import re
import unittest

from program import NIGHTLY, SOURCE, InFolder, nightly, run

# Groups of shipped runs that take a quarter of the time of all; they have every metric.
QUICK = ("trtllm-first-token-llama2-7b-a100", "trtllm-first-token-llama2-7b-h100", "trtllm-first-token-llama2-70b-a100x4",
         "trtllm-static-llama2-7b-a100", "trtllm-static-llama2-70b-h100", "vllm-qwen3-32b-a100", "vllm-qwen3-32b-h100",
         "vllm-qwen3-32b-h100-pcie", "vllm-mistral-7b-rtx4090", "qwen3-8b-h100", "lmdeploy-llama2-7b-a100",
         "lmdeploy-llama2-13b-a100", "lmdeploy-llama2-70b-a100x4")

RUNS = """\
schema: tiersim.published_runs/v1
groups:
  - id: one
    engine: "engine 1"
    setup: "Qwen3-8B on one H100"
    source: "nowhere"
    config: serving/validation/qwen3_8b_h100.yaml
    assumed: "everything"
    runs:
      - {id: fits, users: 2, published: {tpot: 10 ms, ttft: 1 s, throughput: 100}}
"""


TABLE = """\
schema: tiersim.run_table/v1
description: "runs of a test"
config: serving/validation/qwen3_8b_h100.yaml
columns: [card, users, seconds, tpot_ms]
id: "u{users}"
group: "on {card}"
skip: [{where: "users > 100", why: "too many"}]
cases: [{column: card, set: {h100: []}}]
set: ["workload.requests={2 * users}"]
users: users
labels: [{name: load, is: "if(users < 4, 'few', 'many')"}]
requests_per_user: 2
tpot: "tpot_ms / 1000"
throughput: "if(seconds == 0, '', users / seconds)"
assumed: "everything"
"""
ROWS = "card,users,tpot_ms,seconds\nh100,2,7.5,0\nh100,4,8,0.02\na100,2,9,0\nh100,200,9,0\n"


class ValidateServing(InFolder):
    def table(self, rows=ROWS, description=TABLE):
        (self.folder / "rows.csv").write_text(rows)
        (self.folder / "rows.yaml").write_text(description)
        return ("validate", "serving", self.folder / "rows.csv", "--table", self.folder / "rows.yaml")

    def test_compares_a_table_of_runs(self):
        result = run(*self.table(), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 rows left out: card 'a100' is not described", result.stderr)
        self.assertIn("1 rows left out: too many", result.stderr)
        shown = json.loads(result.stdout)
        self.assertEqual([(one["id"], one["metric"], one["measured"]) for one in shown["runs"]],
                         [("u2", "tpot", 0.0075), ("u4", "tpot", 0.008), ("u4", "throughput", 200)])
        for one in shown["runs"][:2]:
            self.assertEqual((one["group"], one["labels"]), ("on-h100", {"load": "few" if one["id"] == "u2" else "many"}))
            self.assertLess(abs(one["error"]), 0.2)
        self.assertEqual([(one["name"], one["value"], one["errors"]["tpot"]["count"]) for one in shown["labels"]],
                         [("load", "few", 1), ("load", "many", 1)])
        text = run(*self.table()).stdout
        self.assertTrue(text.startswith("Errors: (simulated - measured) / measured\n"))
        self.assertRegex(text, r"(?m)^on-h100 +tpot +2 ")
        self.assertRegex(text, r"(?ms)^Errors by load\n.*^few +tpot +1 .*^many +tpot +1 ")

    def test_writes_a_page_and_a_drawing(self):
        page, figure = self.folder / "page.html", self.folder / "figure.svg"
        result = run(*self.table(), "-o", page, "--figure", figure)
        self.assertEqual(result.returncode, 0, result.stderr)
        for expected in ("<svg", "Errors by load", "time per output token", "assumed: everything", "on-h100: 2 runs"):
            self.assertIn(expected, page.read_text())
        self.assertIn("time per output token, ms", figure.read_text())
        self.assertNotIn("h100-apart", figure.read_text())
        self.expect_failure(run(*self.table(), "-o", self.folder / "no" / "page.html"), 2, "page.html")

    def test_reads_results_of_a_benchmark(self):
        result = {"backend": "vllm", "request_rate": "inf", "max_concurrency": 4, "completed": 100,
                  "total_input_tokens": 23300, "total_output_tokens": 22100, "mean_ttft_ms": 64.0,
                  "mean_tpot_ms": 7.38, "output_throughput": 496.88, "itls": [[1, 2]]}
        (self.folder / "one.json").write_text(json.dumps(result))
        (self.folder / "two.jsonl").write_text("\n".join(
            json.dumps({**result, "max_concurrency": users}) for users in (2, 8)))
        command = ("validate", "serving", self.folder / "one.json", self.folder / "two.jsonl", "--table", "vllm_bench",
                   "--config", SOURCE / "configs/serving/validation/qwen3_8b_h100.yaml", "--json")
        shown = json.loads(run(*command).stdout)
        self.assertEqual([one["id"] for one in shown["runs"] if one["metric"] == "tpot"],
                         [f"n100-i233-o221-c{users}-inf" for users in (4, 2, 8)])
        self.assertLess(abs(shown["runs"][0]["error"]), 0.15)
        (self.folder / "one.json").write_text('{"a": 1,\n "b": }')
        self.expect_failure(run(*command), 3, "one.json:")
        self.expect_failure(run(*command[:2], self.folder / "two.jsonl", "--table", "no_such"), 2,
                            "--table 'no_such': there is no such description (there are: aiconfigurator, aiperf, ml_energy, ml_energy_end_to_end, trtllm_bench, vllm_bench; or a file)")

    def test_reads_summaries_of_other_benchmarks(self):
        def one(unit, value):
            return {"unit": unit, "avg": value}
        aiperf = {"request_count": one("requests", 100.0), "input_sequence_length": one("tokens", 233.4),
                  "output_sequence_length": one("tokens", 221.2), "time_to_first_token": one("ms", 22.9),
                  "inter_token_latency": one("ms", 7.9), "output_token_throughput": one("tokens/sec", 500.0),
                  "input_config": {"loadgen": {"concurrency": 4}}}
        in_seconds = {**aiperf, "inter_token_latency": one("sec", 0.0079)}
        trtllm = {"world_info": {"tp_size": 1},
                  "request_info": {"num_requests": 100, "avg_num_concurrent_requests": 3.9,
                                   "avg_input_length": 233.4, "avg_output_length": 221.2},
                  "performance": {"system_output_throughput_tok_s": 500.0}}
        for table, results, expected in (
                ("aiperf", (aiperf, in_seconds),
                 [("n100-i233-o221-c4-0", metric) for metric in ("tpot", "ttft", "throughput")]),
                ("trtllm_bench", (trtllm,), [("n100-i233-o221-c4-tp1", "throughput")])):
            (self.folder / "runs.jsonl").write_text("\n".join(json.dumps(each) for each in results))
            result = run("validate", "serving", self.folder / "runs.jsonl", "--table", table,
                         "--config", SOURCE / "configs/serving/validation/qwen3_8b_h100.yaml", "--json")
            shown = json.loads(result.stdout)
            self.assertEqual([(one["id"], one["metric"]) for one in shown["runs"]], expected)
            self.assertEqual([(group["id"], group["errors"]["throughput"]) for group in shown["groups"]],
                             [(table, shown["summary"]["throughput"])])
            for one in shown["runs"]:
                self.assertLess(abs(one["error"]), 0.15)

    def test_reads_the_table_that_aiconfigurator_publishes(self):
        names = ("id,silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,"
                 "tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms")
        row = ",cfg=1; silicon_concurrency=2; x,vllm,0.16.0,moonshotai/Kimi-K2.5,h200_sxm,int4,agg,128,16,1,8,1,1,8,1,60,12"
        # The same run twice, one whose table counts eight GPUs as 64, one of a model that nobody described, and one of two
        # groups of two GPUs, each group with sequences of its own.
        rows = ["a" + row, "b" + row,
                "c" + row.replace(",8,1,1,8,1,", ",64,1,1,8,8,").replace("moonshotai/Kimi-K2.5", "MiniMaxAI/MiniMax-M2.5").replace("int4", "fp8"),
                "d" + row.replace("Kimi-K2.5", "Kimi-K0"),
                "e" + row.replace(",8,1,1,8,1,", ",2,1,,4,1,").replace("moonshotai/Kimi-K2.5", "Qwen/Qwen3-235B-A22B-FP8").replace("int4", "fp8")]
        (self.folder / "sample.csv").write_text("\n".join([names] + rows))
        result = run("validate", "serving", self.folder / "sample.csv", "--json")
        self.assertIn("sample.csv: 1 rows left out: the same run is above", result.stderr)
        self.assertIn("sample.csv: 1 rows left out: a model that is not described", result.stderr)
        shown = json.loads(result.stdout)["runs"]
        self.assertEqual([(one["id"], one["group"], one["measured"]) for one in shown if one["metric"] == "tpot"],
                         [("i128-o16-c2-tp8-a", "vllm-moonshotai-kimi-k2-5-h200-int4", 0.012),
                          ("i128-o16-c2-tp8-c", "vllm-minimaxai-minimax-m2-5-h200-fp8", 0.012),
                          ("i128-o16-c2-tp4-e", "vllm-qwen-qwen3-235b-a22b-fp8-h200-fp8", 0.012)])

    def test_says_what_is_wrong_with_a_table_of_runs(self):
        self.expect_failure(run(*self.table(ROWS.replace("h100,4,8", "h100,4,x"))), 3,
                            "rows.csv:3:1: error: 'tpot_ms / 1000': ")
        self.expect_failure(run(*self.table(ROWS.replace("users", "user"))), 3,
                            "rows.csv:1:1: error: there is no column 'users' (columns: card, user, tpot_ms, seconds)")
        self.expect_failure(run(*self.table(description=TABLE.replace("{users}\"", "{usres}\""))), 3,
                            "rows.yaml:5:1: error: id: uses 'usres', which is no column and no value above")

    # The README's rows by what they are of: model, card, engine and numbers, as names of groups have them.
    @staticmethod
    def rows_of_readme():
        text = (SOURCE / "sim/validate/README.md").read_text(encoding="utf-8")
        rows = {}
        for line in re.findall(r"(?m)^\| [^|]+ \| [A-Z]+\d+ \| [^|]+ \| \w+ \| \d+ \|.*$", text):
            model, card, engine, numbers, *values = (cell.strip() for cell in line.strip("| ").split(" | "))
            engine = {"TensorRT-LLM": "trtllm"}.get(engine.rstrip(" *"), engine.rstrip(" *").lower())
            rows[engine, re.sub(r"[^a-z0-9]+", "-", model.lower()), f"-{card.lower()}-{numbers}"] = values
        return text, rows

    def check_readme(self, table):
        result = run("validate", "serving", table, timeout=480)
        self.assertEqual(result.returncode, 0, result.stderr)
        text, rows = self.rows_of_readme()
        number = r"([+-]?[\d.]+ %) +"
        printed = re.findall(rf"(?m)^((?:vllm|sglang|trtllm)-\S+) +(tpot|ttft) +(\d+) +{number}{number}{number}{number}(\d+) of", result.stdout)
        errors = {}
        for group, metric, runs, mean, median, _, _, within in printed:
            errors.setdefault(group, {})[metric] = (runs, mean, median, within)
        same = 0
        for (engine, model, end), values in rows.items():
            of = [found for group, found in errors.items()
                  if group.startswith(f"{engine}-") and model in group and group.endswith(end)]
            if len(of) != 1 or of[0]["tpot"][0] != values[0]:
                continue  # this table has not all of these runs
            tpot, ttft = of[0]["tpot"], of[0]["ttft"]
            self.assertEqual([*tpot, *ttft[1:3]], values, (engine, model, end))
            same += 1
        return text, rows, same, result.stdout

    @nightly
    def test_readme_quotes_what_is_printed_of_a_part_of_the_table(self):
        shared = SOURCE.parent / "shared/measured/serving_runs.csv"
        if not shared.exists():
            self.skipTest("the table is not here")
        self.assertGreaterEqual(self.check_readme(shared)[2], 5)

    @nightly
    def test_readme_quotes_what_is_printed_of_the_whole_table(self):
        table = os.environ.get("TIERSIM_RUNS")  # silicon_sample.csv of aiconfigurator
        if not table:
            self.skipTest("TIERSIM_RUNS does not name the table")
        text, rows, same, printed = self.check_readme(table)
        self.assertEqual(same, len(rows))
        quoted, = re.findall(r"```console\n\$ tiersim validate serving silicon_sample.csv\n\n(.*?)\.\.\.\n```", text, re.S)
        self.assertIn(quoted, "\n".join(line.rstrip() for line in printed.splitlines()) + "\n")

    def test_finds_the_host_of_a_server_by_its_runs(self):
        # What a server with these times would measure, by the program itself.
        users = (1, 8, 32, 64)
        rows = "card,users,tpot_ms,seconds\n" + "".join(f"h100,{n},1,0\n" for n in users)
        description = TABLE.replace("requests_per_user: 2", "requests_per_user: 5").replace(
            "throughput: \"if(seconds == 0, '', users / seconds)\"", "ttft: seconds").replace(
            "columns: [card, users, seconds", "empty: {seconds: '1'}\ncolumns: [card, users, seconds").replace(
            "2 * users", "5 * users")
        truth = {"sync": 2e-3, "sync_sequence": 40e-6, "request": 8e-3}
        sets = [word for name, value in truth.items()
                for word in ("--set", f"server.host.{name}={{value: {value * 1e6:g} us, class: assumed, source: a test}}")]
        def command(rows, *options):
            (self.folder / "rows.csv").write_text(rows)
            (self.folder / "rows.yaml").write_text(description)
            return run(*options[:2], self.folder / "rows.csv", "--table", self.folder / "rows.yaml", *options[2:])
        shown = json.loads(command(rows.replace(",0\n", ",1\n"), "validate", "serving", *sets, "--json").stdout)
        values = {(one["id"], one["metric"]): one["simulated"] for one in shown["runs"]}
        rows = "card,users,tpot_ms,seconds\n" + "".join(
            f"h100,{n},{1e3 * values[f'u{n}', 'tpot']!r},{values[f'u{n}', 'ttft']!r}\n" for n in users)
        result = command(rows, "calibrate", "server", "-o", self.folder / "host.yaml", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        fit = json.loads(result.stdout)
        for time in fit["times"]:
            self.assertLess(abs(time["value"] / truth[time["name"]] - 1), 0.1, time)
        self.assertLess(max(abs(value["after"]) for value in fit["values"]), 0.02)
        text = (self.folder / "host.yaml").read_text()
        self.assertIn("# Written by `tiersim calibrate server rows.csv --table rows.yaml`: a fit to these runs", text)
        shipped = run("validate", "serving", self.folder / "rows.csv", "--table", self.folder / "rows.yaml", "--json",
                      "--set", f"server.base=[servers/vllm_v1.yaml, {self.folder / 'host.yaml'}]",
                      "--set", "server.host.overlap=false")
        self.assertEqual(shipped.returncode, 0, shipped.stderr)
        self.assertLess(json.loads(shipped.stdout)["summary"]["tpot"]["worst"], 0.03)
        self.expect_failure(command(rows, "calibrate", "server", "--time", "snc"), 2, "--time 'snc'", "sync_sequence")
        self.expect_failure(command("\n".join(rows.splitlines()[:3]) + "\n", "calibrate", "server"), 3,
                            "2 runs with 4 measured values do not tell 3 times")
        self.expect_failure(run("calibrate", "server"), 2, "name a table of runs")
        self.expect_failure(run("calibrate", "--device", "x", "server"), 2, "--device: has no effect before 'server'")
        self.expect_failure(run("calibrate", "x.csv", "server"), 2, "TIMINGS: has no effect before 'server'")

    def test_fits_the_times_of_one_server_only(self):
        set_of_a100 = "cases: [{column: card, set: {h100: [], a100: [server.host.sync=9 ms]}}]"
        rows = "card,users,tpot_ms,seconds\n" + "".join(f"{card},{n},9,0\n" for card in ("h100", "a100") for n in (1, 2, 4))
        self.table(rows, TABLE.replace("cases: [{column: card, set: {h100: []}}]", set_of_a100))
        command = ("calibrate", "server", self.folder / "rows.csv", "--table", self.folder / "rows.yaml")
        written = self.folder / "host.yaml"
        refused = run(*command, "-o", written)
        self.expect_failure(refused, 3, "rows.csv:5:1: error: ", "host.sync of 9 ms", "--only GROUP")
        self.assertFalse(written.exists())
        self.expect_failure(run(*command, "--only", "on-v100"), 2, "--only 'on-v100': there is no such group (there are: on-h100, on-a100)")
        one = run(*command, "--only", "on-a100", "--time", "sync", "-o", written)
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertIn("--only on-a100 --time sync", written.read_text())

    def test_writes_no_server_that_the_runs_do_not_tell(self):
        self.table("card,users,tpot_ms,seconds\nh100,1,9,0\nh100,2,9,0\nh100,4,9,0\n")
        written = self.folder / "host.yaml"
        result = run("calibrate", "server", self.folder / "rows.csv", "--table", self.folder / "rows.yaml",
                     "--time", "request", "-o", written)
        self.expect_failure(result, 3, "rows.csv:1:1: error: these runs tell none of the times (request)")
        self.assertFalse(written.exists())

    def test_draws_nothing_where_no_run_has_a_value(self):
        figure = self.folder / "figure.svg"
        result = run("validate", "serving", "--runs", self.runs(RUNS.replace("users: 2,", "set: [model.layers=1000],")),
                     "--figure", figure)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("--figure: no run has a value to draw", result.stderr)
        self.assertFalse(figure.exists())

    def test_names_the_parts_that_could_explain_a_difference(self):
        self.table("card,users,tpot_ms,seconds\nh100,2,9,0\nh100,4,8,0\n")
        command = ("compare", SOURCE / "configs/serving/validation/qwen3_8b_h100.yaml", self.folder / "rows.csv",
                   "--table", self.folder / "rows.yaml")
        result = run(*command, "--run", "u2", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        tpot, = json.loads(result.stdout)["metrics"]
        self.assertEqual((tpot["metric"], tpot["measured"]), ("tpot", 0.009))
        parts = {part["name"]: part for part in tpot["parts"]}
        self.assertAlmostEqual(sum(part["seconds"] for part in parts.values()) / tpot["simulated"], 1, delta=0.05)
        mlp = parts["products of the MLP"]
        self.assertAlmostEqual(mlp["seconds"] * (mlp["factor"] - 1), 0.009 - tpot["simulated"], places=12)
        self.assertTrue(mlp["could_explain"])
        self.assertFalse(parts["sampling" if "sampling" in parts else "embedding"]["could_explain"])
        self.assertRegex(run(*command, "--run", "u4").stdout, r"(?m)^tpot: .* measured .*\n.*\n.*\nproducts of the MLP ")
        self.assertEqual(run(*command, "--run", "on-h100.u2", "--json").stdout, result.stdout)
        self.expect_failure(run(*command), 2, "has 2 runs; --run says which (there are: on-h100.u2, on-h100.u4)")
        self.expect_failure(run(*command, "--run", "u3"), 2, "has no run 'u3'")
        self.expect_failure(run(*command[:3], "--run", "u3"), 2, "--run has no effect without --table")
        missing = run(command[0], self.folder / "no.yaml", *command[2:], "--run", "u2")
        self.expect_failure(missing, 3, "no.yaml")
        self.assertEqual(missing.stderr.count("error: "), 1, missing.stderr)

    def test_names_the_parts_of_the_first_token(self):
        self.table(description=TABLE.replace('tpot: "tpot_ms / 1000"', 'ttft: "tpot_ms / 100"'))
        command = ("compare", SOURCE / "configs/serving/validation/qwen3_8b_h100.yaml", self.folder / "rows.csv",
                   "--table", self.folder / "rows.yaml", "--run", "u2")
        ttft, = json.loads(run(*command, "--json").stdout)["metrics"]
        self.assertEqual((ttft["metric"], ttft["measured"]), ("ttft", 0.075))
        parts = {part["name"]: part["seconds"] for part in ttft["parts"]}
        self.assertAlmostEqual(sum(parts.values()), ttft["simulated"], places=9)
        self.assertGreater(parts["iterations that read the prompt"], 0)
        self.assertRegex(run(*command).stdout, r"(?m)^ttft: .* measured ")

    def test_compares_no_run_without_a_time(self):
        self.table(description=TABLE.replace('tpot: "tpot_ms / 1000"\n', ""))
        self.expect_failure(run("compare", SOURCE / "configs/serving/validation/qwen3_8b_h100.yaml",
                                self.folder / "rows.csv", "--table", self.folder / "rows.yaml", "--run", "u4"), 2,
                            "run u4 has neither a time per output token nor a time to the first token")

    def runs(self, text):
        file = self.folder / "runs.yaml"
        file.write_text(text)
        return file

    def test_shows_every_published_run_beside_its_simulation(self):
        groups = () if NIGHTLY else [word for group in QUICK for word in ("--only", group)]
        result = run("validate", "serving", *groups, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        shown = json.loads(result.stdout)
        self.assertGreaterEqual(len(shown["runs"]), 100)
        for one in shown["runs"]:
            self.assertEqual(list(one), ["id", "group", "metric", "unit", "measured", "simulated", "low", "high",
                                         "error", "aim", "within_aim", "counted", "labels"])
            self.assertAlmostEqual(one["error"], one["simulated"] / one["measured"] - 1, places=12)
            self.assertEqual(one["within_aim"], abs(one["error"]) <= one["aim"])
        for metric, aim in (("tpot", 0.1), ("median_gap", 0.1), ("ttft", 0.2),
                            ("throughput", 0.1)):
            summary = shown["summary"][metric]
            self.assertEqual(summary["aim"], aim)
            counted = [one for one in shown["runs"] if one["metric"] == metric and one["counted"]]
            self.assertEqual(summary["count"], len(counted))
            worst = max(counted, key=lambda one: abs(one["error"]))
            self.assertEqual(summary["worst_case"], f"{worst['group']}.{worst['id']}.{metric}")

    def test_says_the_same_at_any_number_of_jobs(self):
        group = ("validate", "serving", "--only", "qwen3-8b-h100", "--json")
        self.assertEqual(run(*group, "-j", "1").stdout, run(*group, "-j", "3").stdout)

    def test_first_tokens_wait_where_more_users_come_than_fit(self):
        result = run("validate", "serving", "--only", "nim-llama33-70b-h100x2", "--json")
        wall, = json.loads(result.stdout)["walls"]
        fitting = wall["points"][0]["positions"] / 5500  # sequences of full length
        below = [point for point in wall["points"] if point["users"] <= fitting]
        beyond = [point for point in wall["points"] if point["users"] >= 1.25 * fitting]
        self.assertTrue(below and beyond)
        self.assertGreater(min(point["ttft_s"] for point in beyond),
                           5 * max(point["ttft_s"] for point in below))
        # Measured values rise between the same two of these numbers of users.
        measured = {int(one["id"][1:]): one["measured"]
                    for one in json.loads(result.stdout)["runs"] if one["metric"] == "ttft"}
        self.assertGreater(min(measured[point["users"]] for point in beyond),
                           5 * max(measured[point["users"]] for point in below))

    def test_prints_errors_and_what_they_rest_on(self):
        text = run("validate", "serving", "--only", "trtllm-first-token-llama2-7b-a100").stdout
        for expected in ("simulated", "measured", "133 ms", "source: NVIDIA/TensorRT-LLM",
                         "assumed: ", "why: ", "Errors: (simulated - measured) / measured", "aims: tpot and median gap 10 %, ttft 20 %"):
            self.assertIn(expected, text)
        self.assertNotIn("qwen3", text)

    def test_refuses_a_group_that_is_not_there(self):
        self.expect_failure(run("validate", "serving", "--only", "none"), 2,
                            "--only 'none': there is no such group", "qwen3-8b-h100")

    def test_takes_runs_of_the_user(self):
        result = run("validate", "serving", "--runs", self.runs(RUNS), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([(one["group"], one["id"], one["metric"]) for one in json.loads(result.stdout)["runs"]],
                         [("one", "fits", metric) for metric in ("tpot", "ttft", "throughput")])

    def test_says_all_that_is_wrong_with_runs(self):
        wrong = RUNS.replace("users: 2", "users: 0") + "      - {id: none, published: {}}\n"
        self.expect_failure(run("validate", "serving", "--runs", self.runs(wrong)), 3,
                            ":10:27: error: groups.0.runs.0.users: '0' is out of range",
                            ":11:20: error: groups.0.runs.1.published: is empty")
        wrong = RUNS + "".join(f"      - {{id: {name}, published: {{ttft: 1 s}}}}\n"
                               for name in ("fits", "A"))
        self.expect_failure(run("validate", "serving", "--runs", self.runs(wrong)), 3,
                            "groups.0.runs.1.id: is that of another one, too",
                            "groups.0.runs.2.id: is no name")
        wall = RUNS.replace("    runs:", "    wall: true\n    runs:")
        wrong = wall + "      - {id: more, users: 2, published: {ttft: 1 s}}\n"
        self.expect_failure(run("validate", "serving", "--runs", self.runs(wrong)), 3,
                            "groups.0.runs.1.users: does not rise from run to run")

    def test_says_which_setting_of_a_run_is_wrong(self):
        wrong = RUNS.replace("users: 2,", "set: [server.kv.blok=1],")
        line = 1 + wrong[:wrong.index("blok")].count("\n")
        self.expect_failure(run("validate", "serving", "--runs", self.runs(wrong)), 3, "blok", f".yaml:{line}:1: error: ")

    def test_a_hit_rate_needs_a_prefix_cache(self):
        wrong = RUNS.replace("throughput: ", "hit_rate: 0.5, throughput: ", 1)
        self.expect_failure(run("validate", "serving", "--runs", self.runs(wrong)), 3, "its server keeps no prefixes")

    def test_goes_on_where_a_run_cannot_be_simulated(self):
        more = ("      - {id: large, set: [model.layers=1000], "
                "published: {throughput: 1}}\n")
        result = run("validate", "serving", "--runs", self.runs(RUNS + more), "--json")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("1 of 2 runs could not be simulated", result.stderr)
        failed = json.loads(result.stdout)["runs"][-1]
        self.assertEqual((failed["id"], failed["metric"]), ("large", "throughput"))
        self.assertIsNone(failed["simulated"])
        self.assertTrue(failed["why"])

    def test_shipped_runs_name_files_that_are_there(self):
        text = "".join((SOURCE / f"reports/targets/published/{name}.yaml").read_text() for name in ("serving", "kv_tiers", "split"))
        files = {line.split()[1] for line in text.splitlines() if line.startswith("    config:")}
        for table in (SOURCE / "configs/run_tables").glob("*.yaml"):
            files |= {line.split()[1] for line in table.read_text().splitlines() if line.startswith("config:")}
        shipped = {path.relative_to(SOURCE / "configs").as_posix()
                   for path in (SOURCE / "configs/serving/validation").glob("*.yaml")}
        self.assertEqual(files, shipped)


class ValidateEnergy(unittest.TestCase):
    def test_compares_measured_energy_at_the_measured_pace(self):
        result = run("validate", "energy", "--only", "h100-llama3_8b-bf16", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        runs = json.loads(result.stdout)["runs"]
        rows = collections.Counter(one["labels"]["rows"] for one in runs)
        # Of served_runs.csv and of unseen_runs.csv, each with three values.
        self.assertEqual(rows, {"h100, fitted": 4 * 3, "h100, unseen, vLLM of 2024": 3 * 3})
        for one in runs:
            self.assertEqual(one["unit"], {"throughput": "tokens/s", "energy": "J", "power": "W"}[one["metric"]])
            if one["metric"] == "throughput":  # it follows the measured one
                self.assertLess(abs(one["error"]), 0.07, one["id"])
        # 486.1 W of one card at 8 sequences, as the table has it.
        power = {one["id"]: one["measured"] for one in runs if one["metric"] == "power"}
        self.assertAlmostEqual(power["lm-arena-chat-meta-llama-llama-3-1-8b-instruct-s8-gpus1"], 486, delta=1)

    def test_a_rent_is_paid_for_all_hours(self):
        rented = run("run", SOURCE / "configs/serving/llama3_8b_h100_closed_loop.yaml", "--json", "--set", "workload.requests=60",
                     "--set", "system.economics.base=economics/rent_h100_2026_05.yaml")
        self.assertEqual(rented.returncode, 0, rented.stderr)
        metrics = json.loads(rented.stdout)["results"]["metrics"]
        # 3 USD an hour at a utilisation of 0.7.
        tokens = metrics["throughput_tokens_per_s"]["value"]
        self.assertAlmostEqual(metrics["cost_usd_per_mtoken"]["value"] / (3 / 3600 / 0.7 / tokens * 1e6), 1, places=9)


if __name__ == "__main__":
    unittest.main(argv=["validate_serving_test"])
