"""The map of TPLA's targets against single runs: win_map_test.py PROGRAM SOURCE_FOLDER."""
import json
import sys
import unittest

import reproduced
from program import SOURCE, InFolder, run

SCENARIOS = {"MLA TP": "mla", "MLA DP attention": "mla_dp", "GLA-2": "gla2", "TPLA": "tpla"}
PEAKS = {"32 FLOP/B": "123.6 TFLOP/s", "128 FLOP/B": "494.5 TFLOP/s", "257 FLOP/B": "989 TFLOP/s"}
SYSTEMS = {"NVLink4": "[systems/h100_nvlink.yaml, bases/collectives_direct.yaml]",
           "NVLink4, H800": "systems/h800_nvlink.yaml", "PCIe Gen5": "systems/h100_pcie_pair.yaml"}


class WinMap(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.report = reproduced.report("tpla")
        cls.map = cls.report["sections"]["tpla.win_map"]

    def rate(self, way, panel, context, batch):
        rates = self.map["tokens_per_s_by_panel_batch_context"][way][panel]
        return rates[self.map["batches"].index(batch)][self.map["contexts"].index(context)]

    def single(self, way, panel, context, batch):
        of = self.map["panels"][panel]
        return run("run", SOURCE / f"configs/scenarios/tpla/deepseek_v3_{SCENARIOS[way]}.yaml",
                   "--json",
                   "--set", f"system.base={SYSTEMS[of['column']]}",
                   "--set", "system.gpu.calibration=none",
                   "--set", f"system.gpu.peak_bf16={PEAKS[of['row']]}",
                   "--set", f"step.context={context}", "--set", f"step.batch={batch}")

    def test_cells_are_what_the_engine_gives(self):
        # The map takes the bound. Where operations follow each other both are the same but for
        # 1 ps an operation: under 2000 of them in a step of at least 5 ms, 4e-7.
        for way in SCENARIOS:
            for panel, context, batch in ((0, 131072, 4), (4, 4096, 64), (8, 1024, 1)):
                with self.subTest(way=way, panel=panel):
                    result = self.single(way, panel, context, batch)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    metrics = json.loads(result.stdout)["results"]["metrics"]
                    throughput = metrics["throughput_tokens_per_s"]["value"]
                    self.assertAlmostEqual(self.rate(way, panel, context, batch) / throughput, 1,
                                           delta=4e-7)

    def test_what_does_not_fit_has_no_rate(self):
        self.assertIsNone(self.rate("MLA TP", 0, 131072, 8))
        self.assertIsNotNone(self.rate("TPLA", 0, 131072, 8))
        self.assertNotEqual(self.single("MLA TP", 0, 131072, 8).returncode, 0)

    def test_winners_have_the_highest_rate(self):
        ways = self.map["tokens_per_s_by_panel_batch_context"]
        for p, panel in enumerate(self.map["panels"]):
            for b, batch in enumerate(panel["winners"]):
                for x, winner in enumerate(batch):
                    rates = {w: r[p][b][x] for w, r in ways.items() if r[p][b][x] is not None}
                    self.assertEqual(winner, max(rates, key=rates.get) if rates else None)

    def test_statements_of_numerics_are_held(self):
        status = {t["id"]: t["status"] for t in self.report["targets"]
                  if t["id"].startswith("tpla.numerics.")}
        for exact in ("proposition_1", "is_gla", "hadamard_balances", "pd_separation"):
            self.assertEqual(status[f"tpla.numerics.{exact}"], "pass")
        for open_one in ("both_worst", "hadamard_best_for_norm", "score_constants"):
            self.assertEqual(status[f"tpla.numerics.{open_one}"], "unexplained")
        self.assertEqual(sum(s == "shape" for s in status.values()), 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
