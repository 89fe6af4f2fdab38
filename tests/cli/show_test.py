"""Topologies as a user looks at them: show_test.py PROGRAM SOURCE_FOLDER."""
import csv
import io
import json
import sys
import unittest
import xml.etree.ElementTree

from program import SOURCE, InFolder, run

TOPOLOGIES = sorted((SOURCE / "configs/topologies").glob("*.yaml"))
SYSTEM = SOURCE / "configs/systems/h100_rails_128gpu.yaml"


class ShowSystem(InFolder):
    def test_every_shipped_topology_is_drawn(self):
        self.assertGreater(len(TOPOLOGIES), 12)
        for path in TOPOLOGIES:
            with self.subTest(topology=path.name):
                figure = self.folder / "figure.svg"
                result = run("show", "system", path, "--figure", figure)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("Halves", result.stdout)
                root = xml.etree.ElementTree.parse(figure).getroot()
                words = " ".join(element.text or "" for element in root.iter())
                self.assertIn("Bisection", words)
                self.assertIn("GPU 0", words)

    def test_a_system_has_the_topology_of_its_file(self):
        own = run("show", "system", SYSTEM, "--format", "json")
        file = run("show", "system", SOURCE / "configs/topologies/dgx_h100_rails_16.yaml", "--format", "json")
        self.assertEqual(own.returncode, 0, own.stderr)
        self.assertEqual(own.stdout, file.stdout)
        self.assertIn('"part":"adapter","number":128', own.stdout.replace(" ", "").replace("\n", ""))

    def test_settings_change_it(self):
        path = SOURCE / "configs/topologies/dgx_h100_rails_16.yaml"

        def share(*settings):
            words = [word for setting in settings for word in ("--set", setting)]
            result = run("show", "system", path, "--format", "csv", *words)
            self.assertEqual(result.returncode, 0, result.stderr)
            table = result.stdout[result.stdout.index("GPUs,nodes"):]
            return float(next(csv.DictReader(io.StringIO(table)))["bisection_share"])
        self.assertEqual(share(), 1)
        self.assertAlmostEqual(share("network.nodes_per_leaf=8", "network.oversubscription=4"), 0.25, places=6)

    def test_a_picture_alone_goes_to_stdout(self):
        result = run("show", "system", TOPOLOGIES[0], "--figure", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("<svg"), result.stdout[:40])

    def test_mistakes_are_named(self):
        self.expect_failure(run("show", "system", SOURCE / "configs/systems/h200_host_dram.yaml"), 2,
                            "states no topology")
        self.expect_failure(run("show", "system", TOPOLOGIES[0], "--set", "nodes=7"), 3, "nodes_per_leaf", "does not divide")
        self.expect_failure(run("show", "system", SYSTEM, "--set", "gpus.count=64"), 3,
                            "has 128 GPUs, and the system has 64")
        self.expect_failure(run("show", "system", SYSTEM, "--set", "topology=~"), 3, "states no topology")
        self.expect_failure(run("show", "system", TOPOLOGIES[0], "--set", "network.spine=3"), 3, "spines")


class ShowCollectives(InFolder):
    def rows(self, *arguments):
        result = run("show", "collectives", SYSTEM, "--format", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_sizes_double_and_times_rise(self):
        rows = self.rows("--kind", "all_reduce", "--from", "1 KiB", "--to", "1 GiB")
        rows = rows["collectives"]
        self.assertEqual([row["bytes"] for row in rows], [2**n for n in range(10, 31)])
        times = [row["time_s"] for row in rows]
        self.assertEqual(times, sorted(times))
        largest = rows[-1]
        self.assertAlmostEqual(largest["bus_bandwidth"], largest["bytes"] / largest["time_s"] * 2 * 127 / 128, delta=1e3)
        self.assertLess(largest["bus_bandwidth"], 8 * 48.45e9 * 1.01, "eight adapters a node")

    def test_mistakes_are_named(self):
        for arguments, text in ((("--kind", "all_redukt"), "is none of"), (("--ranks", "129"), "more than the 128"),
                                (("--purpose", "x"), "is none of"), (("--from", "1 kB"), "kB"),
                                (("--purpose", "transfer"), "no network for transfer")):
            self.expect_failure(run("show", "collectives", SYSTEM, *arguments), 2, text)


class ShowExperts(InFolder):
    WIDE = SOURCE / "configs/scenarios/fabric/deepseek_v3_decode_ep72_h100.yaml"

    def table(self, *arguments):
        result = run("show", "experts", self.WIDE, "--format", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["experts"]

    def test_balance_and_copies_help(self):
        rows = self.table()
        self.assertEqual((rows[0]["placement"], rows[0]["copies"]), ("balanced", 32))
        self.assertEqual(rows[1]["placement"], "contiguous")
        self.assertGreater(rows[1]["busiest_gpu"], rows[0]["busiest_gpu"])
        self.assertEqual([row["slots_per_gpu"] for row in rows], [4, 4, 5, 6, 7])
        self.assertEqual([row["copies"] for row in rows[2:]], [104, 176, 248])
        slots = [row["busiest_slot"] for row in rows[2:]]
        self.assertEqual(slots, sorted(slots, reverse=True))

    def test_counts_of_a_server(self):
        """Every token chooses one expert, which has an eighth of all rows. Unbalanced, its two copies lie on one GPU of
        72, with both copies of another expert, which has 1/255 of the other rows."""
        counts, before = self.folder / "now.json", self.folder / "before.json"
        counts.write_text(json.dumps({"logical_count": [[0.0] * 256, [255.0] + [1.0] * 255]}))
        before.write_text(json.dumps([[0] * 256, [1] * 255 + [255]]))
        now = self.table("--set", f"step.expert_load.expert_counts={counts}")
        self.assertAlmostEqual(now[1]["busiest_gpu"], 72 * (1 / 8 + 7 / 8 / 255), delta=.05)  # chance: three deviations of .01
        self.assertLess(now[0]["busiest_gpu"], 9 / 5, "five copies or more, each with a GPU of 72 and others")
        late = self.table("--set", f"step.expert_load.expert_counts={counts}",
                          "--set", f"step.expert_load.placement_counts={before}")
        self.assertGreater(late[0]["busiest_gpu"], 9, "the expert has one slot of its GPU")
        text = run("show", "experts", self.WIDE, "--set", f"step.expert_load.expert_counts={counts}").stdout
        self.assertIn("rows in 1 layers", text)

    def test_mistakes_are_named(self):
        self.expect_failure(run("show", "experts", SOURCE / "configs/scenarios/methods/llama3_8b_dense_hbm.yaml"), 3, "has no experts", "no GPU has experts")
        evenly = ["--set", "parallel.expert_placement=contiguous", "--set", "step.expert_load={law: even, spread: ~}"]
        self.expect_failure(run("show", "experts", self.WIDE, *evenly), 3, "step.expert_load: gives every GPU an equal share")
        self.expect_failure(run("show", "experts", SYSTEM), 2, "is of kind 'system'")
        self.expect_failure(run("show", "experts", self.WIDE, "--set", "step.expert_load.expert_counts=none.json"), 3,
                            "there is no file 'none.json'")
        (self.folder / "one.json").write_text(json.dumps([[1] + [0] * 255]))
        self.expect_failure(run("show", "experts", self.WIDE, "--set",
                                f"step.expert_load.expert_counts={self.folder / 'one.json'}"), 3,
                            "rows of fewer experts in a layer than the 8 that a token chooses")
        (self.folder / "bad.json").write_text('{"logical_count": [[1, 2], [3]]}')
        self.expect_failure(run("show", "experts", self.WIDE, "--set",
                                f"step.expert_load.expert_counts={self.folder / 'bad.json'}"), 3,
                            "layer 1 has 1 experts, and another one 2")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
