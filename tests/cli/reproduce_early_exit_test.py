"""Early exit's targets as a user reproduces them: reproduce_early_exit_test.py PROGRAM SOURCE_FOLDER."""
import sys
import unittest

import reproduced
from program import InFolder

CELLS = {  # Figures 1 and 2: tokens/s, seconds
    ("t5-v1.1-small", "full"): (1046.47, 0.234),
    ("t5-v1.1-small", "softmax"): (1081.04, 0.075),
    ("t5-v1.1-small", "state"): (1165.73, 0.069),
    ("t5-v1.1-small", "classifier"): (1065.13, 0.079),
    ("t5-v1.1-base", "full"): (1117.96, 0.176),
    ("t5-v1.1-base", "softmax"): (1777.96, 0.076),
    ("t5-v1.1-base", "state"): (1402.78, 0.066),
    ("t5-v1.1-base", "classifier"): (1191.98, 0.078),
}
IN_FLIGHT = {"t5-v1.1-small": {"full": 244.9, "softmax": 81.1, "state": 80.4, "classifier": 84.1},
             "t5-v1.1-base": {"full": 196.8, "state": 92.6, "classifier": 93.0}}


class Cells(InFolder):
    def setUp(self):
        super().setUp()
        self.report = reproduced.report("early-exit")
        self.targets = {t["id"]: t for t in self.report["targets"]}
        self.cells = self.report["sections"]["early_exit"]

    def test_are_all_there_under_the_ids_of_the_list_with_their_class(self):
        self.assertEqual(len(self.targets), len(self.report["targets"]), "an id stands twice")
        for (model, technique), (tokens, latency) in CELLS.items():
            throughput = self.targets[f"early_exit.throughput_tokens_per_s.{model}.{technique}"]
            self.assertEqual(throughput["paper"], tokens)
            self.assertEqual(throughput["reading"], "paper")
            wanted = ("input",) if technique == "full" else ("prediction", "unexplained")
            self.assertIn(throughput["status"], wanted)
            inner = self.targets[f"early_exit.inner_token_latency_s.{model}.{technique}"]
            self.assertEqual((inner["paper"], inner["status"]), (latency, "consistency"))
        for target in self.targets.values():
            self.assertIn(target["status"], ("pass", "input", "prediction", "unexplained", "consistency",
                                             "shape"), target)

    def test_sequences_in_flight_are_littles(self):
        for model, cells in IN_FLIGHT.items():
            for technique, printed in cells.items():
                target = self.targets[f"early_exit.sequences_in_flight.{model}.{technique}"]
                self.assertAlmostEqual(target["paper"], printed, delta=0.05)
                # As many users, rounded, each with one request all the time.
                self.assertAlmostEqual(target["simulated"], printed, delta=0.6)

    def test_the_full_cells_are_met_because_they_are_inputs(self):
        for model in ("t5-v1.1-small", "t5-v1.1-base"):
            full = self.targets[f"early_exit.throughput_tokens_per_s.{model}.full"]
            self.assertAlmostEqual(full["simulated"] / full["paper"], 1, delta=1e-3)
            self.assertGreater(self.targets[f"early_exit.host_fit.{model}"]["simulated"], 0)

    def test_the_doubted_cell_stands_both_ways(self):
        printed = self.targets["early_exit.throughput_tokens_per_s.t5-v1.1-base.softmax"]
        read = self.targets["early_exit.throughput_tokens_per_s.t5-v1.1-base.softmax.read_as_1177.96"]
        self.assertEqual((printed["status"], read["paper"]), ("unexplained", 1177.96))
        self.assertIn("135 sequences", printed["why"])

    def test_no_cell_is_faster_than_without_its_layers_by_the_gpu(self):
        """With the host of full and the GPU that is simulated, early exit is worth a few percent at most."""
        for cell in self.cells:
            bound = cell["tokens_per_s_without_layers"]
            self.assertLess(cell["gpu_share"], 0.1)
            if cell["technique"] == "full":
                self.assertLess(bound / cell["paper"]["tokens_per_s"], 1.05)
                continue
            self.assertEqual([run["correlation"] for run in cell["host_of_full"]], [0, 0.5, 1])
            tokens = [run["tokens_per_s"] for run in cell["gpu_alone"]]
            self.assertEqual(tokens, sorted(tokens), "the more in common, the sooner the batch leaves")

    def test_the_failed_fit_is_shown_and_not_used(self):
        fit = self.targets["early_exit.host_fit.intercept"]
        self.assertLess(fit["simulated"], 0)
        self.assertEqual(fit["status"], "shape")
        self.assertIn("failed fit", fit["why"])
        self.assertEqual(self.targets["early_exit.headline.throughput"]["status"], "unexplained")


class Engines(InFolder):
    def points(self, engine):
        rows = reproduced.report("early-exit")["sections"][engine]
        return {(row["way"], row["correlation"], row["batch"]): row for row in rows}

    def test_one_batch_rule_costs_what_tokens_do_not_share(self):
        points = self.points("early_exit.engine.t5-v1.1-base")
        rates = {c: [points["state, all rows", c, b]["exit_rate"] for b in (1, 16, 256)] for c in (0, 0.5, 1)}
        self.assertEqual(rates[0], sorted(rates[0], reverse=True))
        self.assertLess(rates[0][2], rates[0.5][2])
        self.assertLess(rates[0.5][2], rates[1][2])
        # Mean of a token: Table 1's, whatever the batch; of 63 iterations of 16 or 4 batches, each of one
        # layer's spread and rounded.
        for rate, batches in ((rates[1][0], 16), (rates[1][2], 4)):
            self.assertAlmostEqual(rate, 0.5726, delta=4 * (1 + 1 / 12) ** 0.5 / 12 / (63 * batches) ** 0.5)

    def test_softmax_loses_where_its_head_is_read_for_one_sequence(self):
        for model in ("base", "small"):
            points = self.points(f"early_exit.engine.t5-v1.1-{model}")
            self.assertLess(points["softmax, all rows", 0, 1]["speedup"], 1)
            self.assertGreater(points["state, all rows", 0, 1]["speedup"], 1)


class Files(InFolder):
    def test_hold_tables_and_figures(self):
        folder = reproduced.files() / "early-exit"
        for name in ("cells.csv", "evidence.csv", "engine_t5_v1_1_base.svg", "report.md", "report.json"):
            self.assertTrue((folder / name).is_file(), name)
        self.assertRegex("\n".join(reproduced.printed("early-exit")), "shipped host +speed-up +at most +status")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
