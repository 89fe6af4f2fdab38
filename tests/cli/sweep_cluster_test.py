"""Shards by other programs: GNU parallel, mpirun, and the script for Slurm with its variables set by
hand. sweep_cluster_test.py PROGRAM SOURCE_FOLDER; what is not installed is skipped by name."""
import os
import shutil
import subprocess
import sys
import unittest

from program import PROGRAM, SOURCE, InFolder, run

SPEC = SOURCE / "configs/sweeps/decode_1000.yaml"


def without_mpi():
    if not shutil.which("mpirun"):
        return "no mpirun"
    return "" if "built without MPI" not in run("sweep", SPEC, "--mpi", "-o", os.devnull).stderr else "built without MPI"


class Cluster(InFolder):
    def setUp(self):
        super().setUp()
        result = run("sweep", SPEC, "-o", "whole.db", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.whole = (self.folder / "whole.db").read_bytes()

    def start(self, *command, **options):
        result = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True,
                                timeout=300, **options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def same(self, name):
        self.assertEqual((self.folder / name).read_bytes(), self.whole)

    @unittest.skipUnless(shutil.which("parallel"), "no GNU parallel")
    def test_gnu_parallel(self):
        self.start("parallel", "--will-cite", PROGRAM, "sweep", SPEC, "--shard", "{}/5", "-o", "part{}.db", "-j1",
                   ":::", *range(1, 6))
        self.start(PROGRAM, "merge", *(f"part{i}.db" for i in (4, 2, 5, 1, 3)), "-o", "all.db")
        self.same("all.db")

    @unittest.skipIf(without_mpi(), without_mpi())
    def test_mpi_ranks(self):
        mpirun = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n")
        self.start(*mpirun, 3, PROGRAM, "sweep", SPEC, "--mpi", "-j1", "-o", "all.db")
        self.same("all.db")
        # An aborted job leaves parts, here of four ranks, and two of them finish it.
        for rank in (1, 3):
            self.start(PROGRAM, "sweep", SPEC, "--shard", f"{rank}/4", "-o", f"again.db.part{rank}")
        os.rename(self.folder / "again.db.part3", self.folder / "again.db.part2")
        self.start(*mpirun, 2, PROGRAM, "sweep", SPEC, "--mpi", "--resume", "-j1", "-o", "again.db")
        self.same("again.db")
        self.assertFalse(list(self.folder.glob("*.part*")))

    def test_the_slurm_script_merges_when_its_last_task_ends(self):
        script = SOURCE / "configs/sweeps/array.sbatch"
        for task in (2, 1, 3):
            self.assertFalse((self.folder / "all.db").exists())
            self.start("bash", script, SPEC, "all.db",
                       env={**os.environ, "TIERSIM": PROGRAM, "SLURM_ARRAY_TASK_ID": str(task),
                            "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_CPUS_PER_TASK": "2"})
        self.same("all.db")
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "whole.db"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
