"""Sweeps by other programs: GNU parallel, mpirun, and the script for Slurm with its variables set by
hand. sweep_cluster_test.py PROGRAM SOURCE_FOLDER; what is not installed is skipped by name."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import PROGRAM, SOURCE, InFolder, run

SPEC = SOURCE / "configs/sweeps/decode_1000.yaml"
ARRAY = SOURCE / "configs/sweeps/array.sbatch"
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")


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

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_mpi_ranks(self):
        self.start(*MPIRUN, "-n", 3, PROGRAM, "sweep", SPEC, "--mpi", "-j1", "-o", "all.db")
        self.same("all.db")
        # An aborted job of an older version leaves parts, here of four ranks, and two of them finish it.
        for rank in (1, 3):
            self.start(PROGRAM, "sweep", SPEC, "--shard", f"{rank}/4", "-o", f"again.db.part{rank}")
        os.rename(self.folder / "again.db.part3", self.folder / "again.db.part2")
        self.start(*MPIRUN, "-n", 2, PROGRAM, "sweep", SPEC, "--mpi", "--resume", "-j1", "-o", "again.db")
        self.same("again.db")
        self.assertEqual(sorted(os.listdir(self.folder)), ["again.db", "all.db", "whole.db"])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_a_killed_mpi_rank_is_taken_over(self):
        job = self.begin(*MPIRUN, "--enable-recovery", "-n", 3, PROGRAM, "sweep", SPEC, "--join", "-j1", "-o", "all.db")
        self.wait_for_parts(job)
        os.kill(self.sweeps(job.pid)[0], signal.SIGKILL)  # the first rank
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 0, err)
        self.assertIn("1000 of 1000 points", out)
        self.assertIn("takes over the points of one that was lost", err)
        self.same("all.db")
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "whole.db"])

    def test_tasks_of_the_slurm_script_take_over_a_killed_one(self):
        tasks = [self.begin("bash", ARRAY, SPEC, "all.db", env={**os.environ, "TIERSIM": PROGRAM}) for _ in range(3)]
        self.wait_for_parts(*tasks)
        for pid in (*self.sweeps(tasks[1].pid), tasks[1].pid):
            os.kill(pid, signal.SIGKILL)
        for task in tasks:
            out, err = task.communicate(timeout=120)
            self.assertEqual(task.returncode, -signal.SIGKILL if task is tasks[1] else 0, out + err)
        self.same("all.db")
        self.start("bash", ARRAY, SPEC, "all.db", env={**os.environ, "TIERSIM": PROGRAM})  # a late one
        self.same("all.db")
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "whole.db"])

    def begin(self, *command, **options):
        return subprocess.Popen(list(map(str, command)), cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def wait_for_parts(self, *jobs):
        """Until three processes write."""
        while not all((self.folder / f"all.db.part{i}-wal").exists() for i in (1, 2, 3)):
            for job in jobs:
                self.assertIsNone(job.poll(), "it ended before it was killed")
            time.sleep(0.002)

    def sweeps(self, pid):
        """Processes of the program below this one, by age."""
        out = []
        for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                is_sweep = os.readlink(f"/proc/{child}/exe") == os.path.realpath(PROGRAM)
                out += [int(child)] if is_sweep else self.sweeps(child)
        return sorted(out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
