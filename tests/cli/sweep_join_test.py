"""Several processes that share a sweep, `tiersim sweep --join`: sweep_join_test.py PROGRAM SOURCE_FOLDER.
Some are killed by SIGKILL; the store of the others is compared byte for byte with that of one process."""
import contextlib
import functools
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from program import NIGHTLY, PROGRAM, InFolder, run

SPEC = """
schema: tiersim.sweep/v1
name: contexts
scenario: scenarios/maple/llama2_7b_maple.yaml
axes:
  - {key: step.context, range: {from: 1024, to: %d, step: 64}}
  - {key: step.batch, values: [1, 2, 4, 8]}
objectives: [{maximize: throughput}, {minimize: tpot}]
"""
CONTEXTS = 1000 if NIGHTLY else 400
POINTS = 4 * CONTEXTS


@functools.cache
def store_of_one():
    """The store of SPEC, run by one process."""
    with tempfile.TemporaryDirectory() as name:
        spec = pathlib.Path(name) / "spec.yaml"
        spec.write_text(SPEC % (1024 + 64 * (CONTEXTS - 1)))
        # The store names SPEC as it was given.
        result = run("sweep", "spec.yaml", "-o", "whole.db", "-j2", cwd=name)
        assert result.returncode == 0, result.stderr
        return (pathlib.Path(name) / "whole.db").read_bytes()


class Joined(InFolder):
    def setUp(self):
        super().setUp()
        self.spec = self.folder / "spec.yaml"
        self.write(CONTEXTS)
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        super().tearDown()

    def write(self, contexts):
        self.spec.write_text(SPEC % (1024 + 64 * (contexts - 1)))


    def start(self, *options, threads=1):
        self.started.append(subprocess.Popen(
            [PROGRAM, "sweep", "spec.yaml", "--join", "-o", "all.db", f"-j{threads}", *options],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def end(self, *processes, code=0):
        """(stdout, stderr) of each."""
        out = [process.communicate(timeout=120) for process in processes]
        for process, (_, err) in zip(processes, out):
            self.assertEqual(process.returncode, code, err)
        return out

    def ran(self, *outputs):
        return sum(int(re.search(r"this process ran (\d+) points", err).group(1)) for _, err in outputs)

    def expect_same(self):
        self.assertEqual((self.folder / "all.db").read_bytes(), store_of_one())
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "spec.yaml"])

    def stored(self, part):
        """The positions in a part."""
        try:
            with contextlib.closing(sqlite3.connect(f"file:{self.folder / part}?mode=ro", uri=True)) as store:
                return {position for (position,) in store.execute("SELECT position FROM points")}
        except sqlite3.Error:
            return set()

    def claims(self):
        """[(slot, positions)] in the file of claims."""
        lines = map(str.split, (self.folder / "all.db.claims").read_text().splitlines())
        return [(int(words[1]), set(range(int(words[2]), int(words[3])))) for words in lines if words[0] == "claim"]

    def wait_for_points(self, part, count, process):
        while len(self.stored(part)) < count:
            self.assertIsNone(process.poll(), "it ended before it was killed")
            time.sleep(0.002)

    def kill(self, process, part):
        """Kills a process that has some points; returns those that it has stored."""
        self.wait_for_points(part, 5, process)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        stored = self.stored(part)
        process.kill()
        process.wait()
        return stored

    def test_processes_share_the_points(self):
        outputs = self.end(*(self.start("--json") for _ in range(3)))
        self.expect_same()
        self.assertEqual(self.ran(*outputs), POINTS)
        reports = [json.loads(out) for out, _ in outputs if out]
        self.assertEqual(len(reports), 1)
        self.assertEqual((reports[0]["points"], reports[0]["ok"], reports[0]["complete"]), (POINTS, POINTS, True))
        late = self.end(self.start("--json"))[0]
        self.assertEqual(json.loads(late[0])["before"], POINTS)
        self.expect_same()

    def test_points_of_killed_processes_are_run_by_the_others_and_none_that_was_stored_is_run_again(self):
        processes = [self.start() for _ in range(4)]
        for i, process in enumerate(processes, 1):
            self.wait_for_points(f"all.db.part{i}", 1, process)
        victims = {}
        while len(victims) < 2:  # a process takes a slot at its first turn, so any of them may have the first two
            for process in processes:
                if process in victims or len(victims) == 2:
                    continue
                part = self.part_of(process)
                if part:
                    victims[process] = (part, self.kill(process, part))
        claimed = {part: set() for part, _ in victims.values()}
        for slot, positions in self.claims():
            if f"all.db.part{slot}" in claimed:
                claimed[f"all.db.part{slot}"] |= positions
        outputs = self.end(*(process for process in processes if process not in victims))
        self.expect_same()
        stored = sum(len(points) for _, points in victims.values())
        for part, points in victims.values():
            self.assertLessEqual(points, claimed[part])
        # Each point that no victim had stored was run once by the others, and no other point was: those that
        # were run twice are among the claimed ones that were not stored yet.
        self.assertEqual(self.ran(*outputs), POINTS - stored)
        self.assertGreater(stored, 0)
        self.assertTrue(any("takes over the points of one that was lost" in err for _, err in outputs))

    def part_of(self, process):
        """The part that a process has open."""
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):
                with contextlib.suppress(OSError):
                    path = os.path.basename(os.readlink(f"/proc/{process.pid}/fd/{name}"))
                    if re.fullmatch(r"all\.db\.part\d+", path):
                        return path
        return None

    def test_after_all_were_killed_resume_runs_what_was_not_stored(self):
        processes = [self.start(threads=2) for _ in range(2)]
        for i, process in enumerate(processes, 1):
            self.wait_for_points(f"all.db.part{i}", 5, process)
        for process in processes:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        stored = sum(len(self.stored(f"all.db.part{i}")) for i in (1, 2))
        for process in processes:
            process.kill()
            process.wait()
        self.assertIn("is of a job that did not end; --resume", self.end(self.start(), code=2)[0][1])
        self.assertEqual(sum(len(self.stored(f"all.db.part{i}")) for i in (1, 2)), stored)
        outputs = self.end(*(self.start("--resume") for _ in range(2)))
        self.expect_same()
        self.assertEqual(self.ran(*outputs), POINTS - stored)

    def test_kills_at_any_time_give_the_same_bytes(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}")
        dice = random.Random(seed)
        kills = 0
        for _ in range(12 if NIGHTLY else 5):
            processes = [self.start("--resume") for _ in range(3)]
            for process in dice.sample(processes, dice.choice((1, 2, 3))):
                time.sleep(dice.uniform(0, 0.3))
                process.kill()
            for process in processes:
                out, err = process.communicate(timeout=120)
                kills += process.returncode == -signal.SIGKILL
                self.assertIn(process.returncode, (0, -signal.SIGKILL), out + err)
        self.assertGreater(kills, 0)
        self.end(self.start("--resume"))
        self.expect_same()

    def test_who_is_interrupted_leaves_its_points_to_the_others(self):
        first, second = self.start(), self.start()
        self.wait_for_points("all.db.part1", 5, first)
        self.wait_for_points("all.db.part2", 5, second)
        first.send_signal(signal.SIGINT)
        left = self.end(first, code=130)
        stayed = self.end(second)
        self.expect_same()
        self.assertEqual(self.ran(*left, *stayed), POINTS)

    def test_the_last_one_that_is_interrupted_says_how_to_go_on(self):
        processes = [self.start("--json"), self.start("--json")]
        for i, process in enumerate(processes, 1):
            self.wait_for_points(f"all.db.part{i}", 5, process)
        for process in processes:
            process.send_signal(signal.SIGTERM)
        outputs = self.end(*processes, code=130)
        reports = [json.loads(out) for out, _ in outputs if out]
        self.assertEqual([report["complete"] for report in reports], [False])
        self.assertEqual(reports[0]["ok"], self.ran(*outputs))
        self.assertTrue(any("-o all.db -j 1 --join --resume" in err for _, err in outputs))
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "spec.yaml"])
        self.assertIn("--resume goes on with it", self.end(self.start(), code=2)[0][1])
        self.assertEqual(self.ran(*self.end(self.start("--resume"))), POINTS - reports[0]["ok"])
        self.expect_same()

    def test_fail_fast_ends_all(self):
        self.spec.write_text("schema: tiersim.sweep/v1\nname: tp\nscenario: scenarios/tpla/deepseek_v3_tpla.yaml\n"
                             "axes: [{key: step.context, range: {from: 1024, to: 65536, step: 64}}, "
                             "{key: parallel.tensor, values: [2, 3]}]\n")
        processes = [self.start("--fail-fast", "--json") for _ in range(2)]
        outputs = [process.communicate(timeout=120) for process in processes]
        self.assertEqual(sorted(process.returncode for process in processes), [0, 4], outputs)
        report = next(json.loads(out) for out, _ in outputs if out)
        self.assertFalse(report["complete"])
        self.assertGreater(report["failed"], 0)

    def test_processes_with_other_files_are_refused(self):
        first = self.start()
        self.wait_for_points("all.db.part1", 5, first)
        first.send_signal(signal.SIGSTOP)
        self.write(CONTEXTS + 1)
        self.assertIn("run another sweep, or read other files", self.end(self.start(), code=2)[0][1])
        first.send_signal(signal.SIGCONT)
        self.end(first)
        self.assertEqual(sorted(os.listdir(self.folder)), ["all.db", "spec.yaml"])

    def test_usage_mistakes(self):
        for options, text in ((("--shard", "1/2"), "--shard"), (("--dry-run",), "--dry-run")):
            self.assertIn(text, self.end(self.start(*options), code=2)[0][1])
        (self.folder / "all.db.claims").write_text("no claims\n")
        self.assertIn("the line 'no claims' is damaged", self.end(self.start(), code=3)[0][1])
        (self.folder / "all.db.claims").unlink()
        self.spec.write_text(self.spec.read_text() + "search: {budget: 60, start: 12, generation: 8}\n")
        self.assertIn("cannot be split", self.end(self.start(), code=2)[0][1])
        self.spec.write_text(self.spec.read_text().replace("context", "kontext"))
        self.assertIn("kontext", self.end(self.start(), code=3)[0][1])
        self.assertEqual(os.listdir(self.folder), ["spec.yaml"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
