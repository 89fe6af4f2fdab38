"""Reports of bytes and bottlenecks, and two records side by side: record_reports_test.py PROGRAM SOURCE_FOLDER."""
import csv
import io
import json
import sys
import unittest

from program import MAPLE, SOURCE, InFolder, run

DENSE = SOURCE / "configs/scenarios/maple/llama2_7b_dense_hbm.yaml"
SWAP = SOURCE / "configs/serving/llama2_7b_h100_swap.yaml"
SPEC = """schema: tiersim.sweep/v1
name: two by two
scenario: {scenario}
reading: all
axes:
  - {{key: step.context, values: [4096, 8192]}}
  - {{name: link, key: what_if.far_bandwidth, values: [1, 4]}}
"""


class WithRecord(InFolder):
    def record(self, config, *arguments):
        path = self.folder / "record.json"
        result = run("run", config, "-o", path, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def store(self):
        (self.folder / "spec.yaml").write_text(SPEC.format(scenario=MAPLE))
        path = self.folder / "s.db"
        result = run("sweep", self.folder / "spec.yaml", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def json_of(self, *arguments):
        result = run(*arguments, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


class Bytes(WithRecord):
    def test_a_record_says_what_its_configuration_says(self):
        record = self.record(MAPLE)
        for kind in ("footprint", "io", "bottleneck"):
            points = [self.json_of("report", kind, source)["points"][0] for source in (MAPLE, record)]
            self.assertEqual(points[0], points[1], kind)

    def test_io_sums_to_the_record(self):
        results = json.loads(self.record(MAPLE).read_text())["results"]
        devices = self.json_of("report", "io", MAPLE)["points"][0]["devices"]
        for device, bytes in results["traffic_bytes"].items():
            self.assertEqual(devices[device]["payload"], bytes)
            self.assertEqual(sum(devices[device]["read_by_class"].values()), bytes["read"])
            self.assertEqual(sum(devices[device]["write_by_class"].values()), bytes["write"])
            self.assertEqual(devices[device]["moved"], results["moved_bytes"][device])
        # 128 sequences make one token each.
        self.assertEqual(devices["pool"]["payload_per_token"], sum(results["traffic_bytes"]["pool"].values()) / 128)

    def test_a_file_is_a_baseline(self):
        points = self.json_of("report", "footprint", MAPLE, "--baseline", DENSE)["points"]
        both = [self.json_of("report", "footprint", f)["points"][0]["tiers"]["hbm"]["sum_bytes"] for f in (MAPLE, DENSE)]
        self.assertEqual(points[0]["tiers"]["hbm"]["of_baseline"], both[0] / both[1])

    def test_a_point_and_a_record_are_baselines_as_they_were_run(self):
        store = self.store()
        record = self.record(MAPLE, "--set", "step.context=8192")
        for baseline, expected in ((f"{store}:1", 1), (record, 0.5)):
            points = self.json_of("report", "footprint", MAPLE, "--set", "step.context=4096",
                                  "--baseline", baseline)["points"]
            self.assertAlmostEqual(points[0]["tiers"]["pool"]["of_baseline"], expected, delta=0.001)

    def test_a_store_is_compared_along_its_axis(self):
        store = self.store()
        points = self.json_of("report", "io", store, "--baseline", "context=4096")["points"]
        self.assertEqual([p["labels"] for p in points], [{"context": c, "link": l} for c in ("4096", "8192") for l in "14"])
        # Payload of the gather is as the context; the rows written are as many.
        ratios = [p["devices"]["pool"]["of_baseline"] for p in points]
        self.assertEqual(ratios[:2], [1, 1])
        self.assertEqual(ratios[2], ratios[3])
        self.assertAlmostEqual(ratios[2], 2, delta=0.01)
        self.assertEqual(points[0]["devices"]["pool"]["payload_per_request"],
                         sum(points[0]["devices"]["pool"]["payload"].values()) / 128)

    def test_formats(self):
        text = run("report", "io", MAPLE, "--format", "csv").stdout
        tables = [list(csv.reader(io.StringIO(table, newline=""))) for table in text.split("\n\n")]
        self.assertEqual([len(table[0]) for table in tables], [12, 5, 4])
        self.assertIn("\\toprule", run("report", "io", MAPLE, "--format", "tex").stdout)
        self.assertEqual(run("report", "io", MAPLE, "--format", "md").stdout.count("### "), 3)

    def test_mistakes(self):
        self.expect_failure(run("report", "io", MAPLE, "--baseline", "dense"), 2, "no point is labelled 'dense' (configuration: llama2-7b MAPLE)",
                            "there is no such file")
        self.expect_failure(run("report", "footprint", self.record(MAPLE), "--contexts", "8K"), 2, "--contexts")
        bad = json.loads(self.record(MAPLE).read_text())
        bad["results"]["humidity"] = 1
        (self.folder / "bad.json").write_text(json.dumps(bad))
        self.expect_failure(run("report", "io", self.folder / "bad.json"), 3, "results: 'humidity' is unknown to this tiersim")


class Bottleneck(WithRecord):
    def test_of_a_store_with_a_figure(self):
        figure = self.folder / "b.svg"
        result = run("report", "bottleneck", self.store(), "--figure", self.folder / "b.pdf")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "b.pdf").read_bytes().startswith(b"%PDF"))
        first = (self.folder / "b.pdf").read_bytes()
        run("report", "bottleneck", self.store(), "--figure", self.folder / "b.pdf")
        self.assertEqual((self.folder / "b.pdf").read_bytes(), first)
        result = run("report", "bottleneck", self.store(), "--figure", self.folder / "b.png")
        self.assertEqual(result.returncode, 2)
        self.assertIn("does not end in .svg or .pdf", result.stderr)
        result = run("report", "bottleneck", self.store(), "--figure", figure)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("What bounds the points", result.stdout)
        self.assertTrue(figure.read_text().startswith("<svg"))
        self.expect_failure(run("report", "bottleneck", MAPLE, "--figure", self.folder / "none/b.svg"), 2, "none")

    def test_the_next_one_bounds_once_the_first_is_faster(self):
        point = self.json_of("report", "bottleneck", MAPLE)["points"][0]
        self.assertEqual((point["bound_by"], point["next"]["cause"]), ("sm.to_gpu", "cxl_port.to_gpu"))
        faster = run("run", MAPLE, "--json", "--set", "system.sm.to_gpu.value=10000 GB/s", "--set", "system.sm.in_flight.value=1 GiB")
        self.assertEqual(faster.returncode, 0, faster.stderr)
        results = json.loads(faster.stdout)["results"]
        self.assertEqual(results["bounded_by"], "cxl_port.to_gpu")
        gain = point["bound_s"] / results["metrics"]["bound_s"]["value"]
        self.assertLessEqual(gain, point["most_gain"])
        self.assertGreater(gain, 1)


class Compare(WithRecord):
    def test_one_setting_and_what_it_did(self):
        out = json.loads(run("compare", MAPLE, MAPLE, "--set-b", "step.batch=64", "--json").stdout)
        self.assertEqual([(d["setting"], d["a"]["value"], d["b"]["value"]) for d in out["config"]], [("step.batch", "128", "64")])
        self.assertFalse(out["same_results"])
        metrics = {m["name"]: m for m in out["metrics"]}
        self.assertEqual(metrics["far_load_bytes"]["relative"], -0.5)
        sizes = [abs(m["relative"]) for m in out["metrics"] if m["relative"] is not None]
        self.assertGreater(len(sizes), 3)

    def test_a_sourced_number_has_its_class_and_source(self):
        out = json.loads(run("compare", MAPLE, MAPLE, "--set-b", "system.sm.to_gpu.value=30 GB/s", "--json").stdout)
        self.assertEqual(out["config"][0]["setting"], "system.sm.to_gpu")
        self.assertEqual(out["config"][0]["b"]["value"], "30 GB/s")
        self.assertEqual(out["config"][0]["a"]["class"], "assumed")

    def test_record_configuration_and_point_of_a_store(self):
        record = self.record(MAPLE, "--set", "what_if.far_bandwidth=4")
        for a, b in ((MAPLE, record), (f"{self.store()}:2", record), (f"{self.folder / 's.db'}:2", f"{self.folder / 's.db'}:3")):
            out = json.loads(run("compare", a, b, "--json").stdout)
            self.assertEqual([d["setting"] for d in out["config"]], ["what_if.far_bandwidth"])
        same = json.loads(run("compare", record, f"{self.folder / 's.db'}:3", "--json").stdout)
        self.assertEqual((same["config"], same["same_results"], same["metrics"]), ([], True, []))

    def test_servers(self):
        out = json.loads(run("compare", SWAP, SWAP, "--set-b", "workload.requests=200", "--json").stdout)
        self.assertEqual([d["setting"] for d in out["config"]], ["workload.requests"])
        self.assertIn("makespan_s", [m["name"] for m in out["metrics"]])

    def test_mistakes(self):
        store = self.store()
        self.expect_failure(run("compare", store, MAPLE), 2, "say which point")
        self.expect_failure(run("compare", f"{store}:9", MAPLE), 2, "has no point '9'")
        self.expect_failure(run("compare", self.record(MAPLE), MAPLE, "--set-a", "step.batch=1"), 2, "is a record")
        self.expect_failure(run("compare", self.folder / "none.yaml", MAPLE), 3, "none.yaml:1:1: error")
        self.expect_failure(run("compare", MAPLE), 2, "B is required")
        self.expect_failure(run("compare", MAPLE, MAPLE, "--json", "--format", "csv"), 2, "excludes")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
