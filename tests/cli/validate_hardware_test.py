"""`tiersim validate hardware`: validate_hardware_test.py PROGRAM SOURCE_FOLDER."""
import json
import unittest

from program import NIGHTLY, InFolder, run

# Groups and curves that take 6 of the 51 CPU seconds of all; each kind of memory and of collective is in it.
QUICK = ("pcie", "copy", "cxl", "nvlink", "ddr5-4800-stream", "ddr5-4800-streams-mixed", "ddr5-4800-random-mixed",
         "hbm3-6400-stream", "hbm3-6400-random-mixed", "hbm3-6400-faw-random", "hbm3-6400-per-bank-latency-stream",
         "h100-one-bank-reads", "h100-write-saturation", "h200-copy", "rtx4090-copy", "loaded-grace-reads-100",
         "loaded-a64fx-reads-60-near", "allreduce-nccl-timed", "allreduce-nccl-eager", "allreduce-bus-nvls",
         "allreduce-tree-simple-h100", "nccl-timed-a100", "nccl-timed-h200", "nccl-timed-h100-all-to-all")

# 8 B of every 32 B atom of a memory that reaches four fifths of 100 GB/s: 20 GB/s of payload.
CURVES = """\
schema: tiersim.hardware_curves/v1
curves:
  - id: quarter
    title: Reads of a quarter of an atom
    group: memory
    quantity: bandwidth
    axis: run
    kind: model
    source: "nowhere"
    band: 0.01
    held: [flow]
    memory: {base: devices/h100_hbm3.yaml, peak: 100 GB/s, read_efficiency: 0.8, row_time: 0 ns}
    points:
      - {run: 8 B, reference: REFERENCE}
      - {run: 4 KiB, reference: 80}
"""


class ValidateHardware(InFolder):
    def curves(self, text):
        file = self.folder / "curves.yaml"
        file.write_text(text)
        return str(file)

    def test_lists_every_case_at_every_level_and_holds_the_bands(self):
        curves = () if NIGHTLY else [word for curve in QUICK for word in ("--only", curve)]
        result = run("validate", "hardware", "--json", *curves, timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)
        shown = json.loads(result.stdout)
        names = [(case["id"], case["level"]) for case in shown["cases"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({case["group"] for case in shown["cases"]},
                         {"memory", "pcie", "copy", "cxl", "nvlink", "collective"})
        for name in {name for name, _ in names}:
            self.assertEqual({level for at, level in names if at == name},
                             {"analytic", "flow", "packet"})
        for group in ("memory", "pcie", "cxl", "nvlink", "collective"):
            packets = [case for case in shown["cases"]
                       if case["group"] == group and case["level"] == "packet"
                       and case["predicted"] is not None]
            held = [case for case in packets if case["status"] == "within"]
            self.assertGreater(len(held), 0.5 * len(packets), group)
        for case in shown["cases"]:
            if case["predicted"] is None:
                self.assertEqual(case["status"], "none")
                self.assertTrue(case["why"])
                continue
            low, high = case["band"]
            inside = low * (1 - 1e-12) <= case["predicted"] <= high * (1 + 1e-12)
            self.assertTrue(inside or case["status"] in ("known", "not held"), case)
            self.assertNotIn(case["status"], ("outside", "stale"))
            if case["status"] == "known":
                self.assertFalse(inside, case)
                self.assertTrue(case["why"])

    def test_a_value_in_its_band_is_exit_0(self):
        result = run("validate", "hardware", "--curves",
                     self.curves(CURVES.replace("REFERENCE", "20").replace("id: quarter", "id: Quarter_1")),
                     cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 of 2", result.stdout)
        # The sums come first, and nothing is written that was not asked for.
        self.assertLess(result.stdout.index("2 of 2"), result.stdout.index("Reads of a quarter of an atom"))
        self.assertEqual([each.name for each in self.folder.iterdir()], ["curves.yaml"])

    def test_a_value_out_of_its_band_is_exit_5_and_named(self):
        result = run("validate", "hardware", "--curves",
                     self.curves(CURVES.replace("REFERENCE", "25")), "--json")
        self.assertEqual(result.returncode, 5)
        wrong, = [case for case in json.loads(result.stdout)["cases"]
                  if case["status"] == "outside"]
        self.assertEqual(wrong["id"], "quarter.8B")
        self.assertAlmostEqual(wrong["error"], -0.2, places=6)

    def test_a_point_said_to_be_outside_must_be_outside(self):
        text = CURVES.replace("REFERENCE}", "25, known_flow: because}")
        self.assertEqual(run("validate", "hardware", "--json", "--curves",
                             self.curves(text)).returncode, 0)
        text = text.replace("reference: 25", "reference: 20")
        self.assertEqual(run("validate", "hardware", "--json", "--curves",
                             self.curves(text)).returncode, 5)

    def test_writes_a_picture_of_each_quantity(self):
        result = run("validate", "hardware", "--curves",
                     self.curves(CURVES.replace("REFERENCE", "20")), "--out",
                     str(self.folder / "pictures"))
        self.assertEqual(result.returncode, 0, result.stderr)
        picture, = (self.folder / "pictures").iterdir()
        self.assertIn("quarter", picture.read_text())

    def test_no_picture_has_more_than_six_curves(self):
        head, curve = CURVES.replace("REFERENCE", "20").split("curves:\n")
        text = head + "curves:\n" + "".join(
            curve.replace("id: quarter", f"id: quarter-{i}") for i in range(7))
        folder = self.folder / "pictures"
        result = run("validate", "hardware", "--curves", self.curves(text), "--out", str(folder))
        self.assertEqual(result.returncode, 0, result.stderr)
        shown = sorted(picture.read_text().count(">quarter-") for picture in folder.iterdir())
        self.assertEqual(shown, [1, 6])

    def test_tells_every_mistake_at_its_place(self):
        text = CURVES.replace("REFERENCE", "-1").replace("memory:", "memroy:").replace(
            "held: [flow]", "held: [flaw]")
        result = run("validate", "hardware", "--curves", self.curves(text))
        self.assertEqual(result.returncode, 3)
        for said in ("curves.yaml:11:", "curves.yaml:12:", "curves.yaml:14:", "memory", "flow"):
            self.assertIn(said, result.stderr)

    def test_an_unknown_curve_is_told_with_those_there_are(self):
        result = run("validate", "hardware", "--only", "nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("h100-loaded-latency", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=["validate_hardware_test"])
