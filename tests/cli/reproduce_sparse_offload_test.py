"""Sparse offload's targets as a user reproduces them: reproduce_sparse_offload_test.py PROGRAM SOURCE_FOLDER."""
import sys
import unittest

import reproduced
from program import InFolder

RUN = "sparse_offload.sglang_33075"
PRINTED = {  # users: tokens/s of the base and offloaded, as the pull request prints them
    1: (47.7, 44.1), 2: (84.2, 77.2), 4: (153.3, 144.0), 8: (213.3, 252.9),
    16: (217.3, 361.0), 32: (215.9, 523.6), 54: (214.7, 643.6),
}


class SparseOffload(InFolder):
    def setUp(self):
        super().setUp()
        self.report = reproduced.report("sparse-offload")
        self.targets = {t["id"]: t for t in self.report["targets"]}
        self.rows = self.report["sections"][RUN]

    def test_every_printed_value_is_there_with_its_class(self):
        self.assertEqual(len(self.targets), len(self.report["targets"]), "an id stands twice")
        for users, printed in PRINTED.items():
            for server, value in zip(("base", "offloaded"), printed):
                target = self.targets[f"{RUN}.tokens_per_s.{server}.{users}"]
                self.assertEqual((target["paper"], target["reading"]), (value, "paper"))
            ratio = self.targets[f"{RUN}.ratio.offloaded.{users}"]
            self.assertAlmostEqual(ratio["paper"], printed[1] / printed[0], delta=1e-12)
        self.assertEqual(self.targets[f"{RUN}.seats.base"]["paper"], 6)
        self.assertEqual(self.targets[f"{RUN}.seats.offloaded"]["paper"], 54)
        for target in self.targets.values():
            self.assertIn(target["status"], ("prediction", "explained", "unexplained"), target)
            self.assertRegex(target["why"], "declared")

    def test_a_status_follows_from_the_declared_cells(self):
        cells = {}
        for row in self.rows["cells"]:
            cells.setdefault((row["server"], row["users"]), []).append(row)
        for users, printed in PRINTED.items():
            for server, value in zip(("base", "offloaded"), printed):
                rows = cells[server, users]
                errors = [abs(row["tokens_per_s"] / value - 1) for row in rows]
                wanted = ("prediction" if errors[0] <= 0.15 else
                          "explained" if min(errors) <= 0.15 else "unexplained")
                target = self.targets[f"{RUN}.tokens_per_s.{server}.{users}"]
                self.assertEqual(target["status"], wanted, target)
                self.assertEqual(target["simulated"], rows[0]["tokens_per_s"])

    def test_rates_are_running_sequences_over_the_time_between_tokens(self):
        for row in self.rows["cells"]:
            self.assertAlmostEqual(row["tokens_per_s"] * row["inter_token_latency_s"], row["running"],
                                   delta=1e-9 * row["running"])
            self.assertGreater(row["batch"], 0.9 * row["running"])

    def test_a_higher_overlap_fetches_less_and_is_faster(self):
        at = {row["cell"]: row["tokens_per_s"] for row in self.rows["cells"]
              if row["server"] == "offloaded" and row["users"] == 54}
        nominal = at["GLM-5.2, experts nvfp4, overlap .95"]
        self.assertLess(at["overlap .90"], nominal)
        self.assertLess(nominal, at["overlap .98"])

    def test_more_memory_holds_more_sequences(self):
        for server in ("base", "offloaded"):
            for model in ("GLM-5.2", "GLM-5.1"):
                seats = [row["sequences"] for row in self.rows["seats"]
                         if row["server"] == server and row["room"].startswith(model)]
                self.assertEqual(len(seats), 5)
                self.assertEqual(seats, sorted(seats))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
