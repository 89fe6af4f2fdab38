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


RATIOS = {  # the same of sources that print ratios, or rates of which ratios follow
    "hisparse_glm51.ratio.offloaded.4K in": 2280 / 2288, "hisparse_glm51.ratio.offloaded.32K in": 1919 / 624,
    "hisparse_glm51.ratio.offloaded.160K in": 680 / 232,
    "ess.ratio.offloaded.32K, 64 a GPU": 10693.31 / 9647.71, "ess.ratio.offloaded.32K, 96 a GPU": 13155.98 / 9647.71,
    "ess.ratio.offloaded.32K, 128 a GPU": 15620.14 / 9647.71, "ess.ratio.offloaded.32K, 160 a GPU": 16347.88 / 9647.71,
    "ess.ratio.offloaded.128K, 40 a GPU": 6925.06 / 3669.19, "ess.ratio.offloaded.128K, 54 a GPU": 8169.60 / 3669.19,
    "shadowkv.tokens_per_s.full.60K": 160.62, "shadowkv.tokens_per_s.shadowkv.60K": 455.14,
    "shadowkv.tokens_per_s.full.122K": 80.77, "shadowkv.tokens_per_s.shadowkv.122K": 239.51,
    "shadowkv.tokens_per_s.full.244K": 40.37, "shadowkv.tokens_per_s.shadowkv.244K": 119.01,
    "shadowkv.ratio.shadowkv.122K, Llama-3.1": 245.90 / 80.78,
    "hisparse_glm52.tokens_per_s.base.8": 8 / 0.0248, "hisparse_glm52.tokens_per_s.every row hits.8": 8 / 0.0241,
    "hisparse_glm52.tokens_per_s.offloaded.8": 8 / 0.0318, "vllm_46326.tokens_per_s.5173 seats.5173": 26056,
}
NOT_SIMULATED = {"hisparse_glm52_peak", "hisparse_quest_gh200", "hisparse_v4_flash", "npu_33089", "quest_qwen3_8b"}


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
        for name, value in RATIOS.items():
            self.assertAlmostEqual(self.targets[f"sparse_offload.{name}"]["paper"], value, delta=5e-4 * value, msg=name)
        for target in self.targets.values():
            self.assertIn(target["status"], ("prediction", "explained", "unexplained"), target)
            self.assertRegex(target["why"], "declared|^not simulated: ")

    def test_what_is_not_simulated_says_why_and_has_no_value(self):
        names = {name.removeprefix("sparse_offload.") for name, target in self.targets.items()
                 if target["simulated"] is None}
        self.assertEqual(names, NOT_SIMULATED)
        for name in names:
            target = self.targets[f"sparse_offload.{name}"]
            self.assertEqual(target["status"], "unexplained")
            self.assertRegex(target["why"], "^not simulated: ")

    # A block of fewer threads has fewer bytes on their way, which few sequences wait for and many do not.
    def test_fewer_bytes_in_flight_slow_few_sequences_alone(self):
        ratio = {(row["cell"], row["users"]): row["ratio"] for row in self.rows["cells"] if row["server"] == "offloaded"}
        nominal, fewer = "GLM-5.2, experts nvfp4, overlap .95", "blocks of 512 threads, loads of 8 B"
        self.assertLess(ratio[fewer, 1], 0.98 * ratio[nominal, 1])
        self.assertAlmostEqual(ratio[fewer, 54], ratio[nominal, 54], delta=1e-6)

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
