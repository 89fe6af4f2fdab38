#!/usr/bin/env python3
"""kernels/campaign.sh as a user runs it without a card: the dry run, on the emulator.

campaign_test.py ROOT BUILD_FOLDER [PROGRAMS]: the repository, where the campaign may build (kept between
runs, so that only what changed is compiled), and a folder of programs that it takes instead.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
PROGRAMS = sys.argv.pop(1) if len(sys.argv) > 1 else ""
CAMPAIGN = ROOT / "kernels/campaign.sh"
STAGES = ["conformance", "correctness", "ceilings", "timing", "ceilings_again", "composition"]
ALL_STAGES = ["build"] + STAGES + ["sanitize"]


def run(command, *arguments, timeout=560, **environment):
    return subprocess.run([str(command), *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "TIERSIM_CAMPAIGN_BUILD": str(BUILD),
                               "TIERSIM_CAMPAIGN_PROGRAMS": PROGRAMS, **environment},
                          timeout=timeout, check=False)


def campaign(*arguments, **environment):
    return run(CAMPAIGN, *arguments, **environment)


def validate(*arguments):
    return run(BUILD / "emulator/validate_timings", *arguments)


class Usage(unittest.TestCase):
    def expect_usage(self, text, *arguments):
        done = campaign(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(text, done.stderr)

    def test_mistakes_are_exit_code_2(self):
        with tempfile.TemporaryDirectory() as out:
            self.expect_usage("no stage 'tming'", "--dry-run", out, "tming")
            self.expect_usage("unknown option '--dry'", "--dry", out)
            self.expect_usage("which folder?", "--dry-run")
            self.expect_usage("--filter wants a value", out, "--filter")
            self.expect_usage("whole numbers", out, "--limit", "8m")
            for option in ("--limit", "--case-limit", "--processes", "--seed"):
                self.expect_usage(f"{option} takes whole numbers", out, option, "")
            self.expect_usage("of at least 1, not '0'", out, "--case-limit", "0")
            self.expect_usage("without a name", "")
            self.expect_usage("cannot read", out, "--predictions", "/none.json")
            self.assertEqual(os.listdir(out), [])
        self.expect_usage("cannot make the folder", "--dry-run", "/proc/none")

    def test_help_and_list_name_the_stages(self):
        for options in (["--help"], ["--list"], ["--list", "/tmp"]):
            done = campaign(*options)
            self.assertEqual(done.returncode, 0, done.stderr)
            for stage in ALL_STAGES:
                self.assertIn(stage, done.stdout)

    def test_unusable_compilers_are_refused_before_building(self):
        for name, arguments in (("NVCC", []), ("CXX", ["--dry-run"])):
            with tempfile.TemporaryDirectory() as out:
                done = campaign(*arguments, out, "build", **{name: "/none/compiler"})
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"'/none/compiler' does not run ({name}=...)", done.stderr)

    def test_a_folder_without_the_programs_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = campaign("--dry-run", f"{folder}/out", "build", TIERSIM_CAMPAIGN_PROGRAMS=folder,
                            TIERSIM_CAMPAIGN_BUILD=f"{folder}/build")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"there is no {folder}/campaign (TIERSIM_CAMPAIGN_PROGRAMS=...)", done.stderr)

    @unittest.skipIf(os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi"), "a card")
    def test_without_a_card_only_the_build_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder) / "compiler"  # makes empty outputs
            compiler.write_text('#!/bin/sh\necho "$@" >>"$0.log"\n'
                                'while [ $# -gt 0 ]; do case $1 in -o | -MF) : >"$2" ;; esac; shift; done\n',
                                encoding="utf-8")
            compiler.chmod(0o755)
            how = {"CXX": str(compiler), "NVCC": str(compiler), "CCACHE_DISABLE": "1",
                   "TIERSIM_CAMPAIGN_BUILD": f"{folder}/build"}
            out = pathlib.Path(folder) / "out"
            out.mkdir()
            (out / "timing.json").write_text("{}", encoding="utf-8")
            done = campaign("--fresh", out, "build", "conformance", **how)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("no card is here", done.stderr)
            self.assertEqual(os.listdir(out), ["timing.json"])
            links = [line for line in (pathlib.Path(folder) / "compiler.log").read_text(
                encoding="utf-8").splitlines() if "-lcublasLt" in line]
            self.assertTrue(links)
            for line in links:
                self.assertIn(f"-Xlinker -rpath -Xlinker {folder}/../lib64", line)

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck")
    def test_the_script_is_clean(self):
        done = run("shellcheck", CAMPAIGN)
        self.assertEqual(done.returncode, 0, done.stdout)


class DryRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.kept = pathlib.Path(cls.temporary.name) / "an out folder"
        cls.first = campaign("--dry-run", cls.kept)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "out"
        self.assertEqual(self.first.returncode, 0, self.first.stderr[-4000:])
        shutil.copytree(self.kept, self.out)

    def read(self, stage):
        return json.loads((self.out / f"{stage}.json").read_text(encoding="utf-8"))

    def write(self, stage, document):
        (self.out / f"{stage}.json").write_text(json.dumps(document), encoding="utf-8")

    def test_leaves_few_small_files_that_hold(self):
        files = sorted(self.out.iterdir())
        self.assertEqual({f.name for f in files},
                         {f"{s}.json" for s in STAGES} | {"log.txt", "summary.txt"})
        self.assertLess(sum(f.stat().st_size for f in files), 60e6)
        done = validate(*self.out.glob("*.json"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_plan_says_what_is_composed(self):
        plan = json.loads((BUILD / "emulator/plan.json").read_text(encoding="utf-8"))
        composed = self.read("composition")
        self.assertEqual(plan["build_id"], composed["context"]["build"]["id"])
        planned = {s["name"]: s for s in plan["sequences"]}
        self.assertEqual(len(composed["benchmarks"]), len(planned))
        for entry in composed["benchmarks"]:
            sequence = planned[entry["name"]]
            counts = [0] * len(sequence["parts"])
            for step in sequence["steps"]:
                counts[step["part"]] += 1
            self.assertEqual([(p["case"], n) for p, n in zip(sequence["parts"], counts, strict=True)],
                             [(p["case"], p["count"]) for p in entry["parts"]])
            flops = sum(p["work"]["issued_flops"] * n for p, n in zip(sequence["parts"], counts, strict=True))
            self.assertEqual(flops, entry["work"]["issued_flops"])

    def test_validator_helps(self):
        done = validate("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: validate_timings", done.stdout)

    def test_is_never_a_measurement(self):
        for stage in STAGES:
            context = self.read(stage)["context"]
            self.assertEqual((context["class"], context["device"]["kind"]), ("none", "emulator"))
            done = validate("--measurements", self.out / f"{stage}.json")
            self.assertEqual(done.returncode, 3, stage)
            self.assertIn("not a measurement", done.stderr)
        self.assertIn("no time here is a measurement", self.first.stdout)
        timing = self.read("timing")
        timing["context"]["class"] = "measured"
        self.write("timing", timing)
        done = validate(self.out / "timing.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("the emulator measures nothing", done.stderr)

    def test_times_every_case_in_three_processes(self):
        names = {e["name"] for e in self.read("correctness")["benchmarks"]}
        timed = {}
        for stage in ("ceilings", "timing"):
            document = self.read(stage)
            self.assertEqual(document["refused"], [])
            for entry in document["benchmarks"]:
                timed.setdefault(entry["case"], []).append(entry["repetition_index"])
                self.assertGreater(entry["real_time"], 0)
        self.assertEqual(set(timed), names)
        for name, processes in timed.items():
            if not name.startswith("ceiling."):
                self.assertEqual(set(processes), {0, 1, 2}, name)

    def test_does_nothing_twice(self):
        before = {s: self.read(s)["benchmarks"] for s in STAGES}
        began = time.monotonic()
        done = campaign("--dry-run", self.out)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        self.assertLess(time.monotonic() - began, 120)
        for stage in STAGES:
            self.assertEqual(self.read(stage)["benchmarks"], before[stage], stage)

    def test_goes_on_where_it_stood(self):
        document = self.read("timing")
        lost = document["benchmarks"].pop(1)
        self.write("timing", document)
        done = campaign("--dry-run", self.out, "timing")
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        again = self.read("timing")["benchmarks"]
        self.assertEqual(again[:-1], document["benchmarks"])
        self.assertEqual(again[-1]["name"], lost["name"])

    def test_refuses_to_mix_campaigns(self):
        done = campaign("--dry-run", "--seed", "2", self.out, "timing")
        self.assertEqual(done.returncode, 1, done.stderr[-4000:])
        self.assertIn("is of another campaign: its seed is 1, here 2 (--fresh", done.stderr)

    def test_names_the_way_out_of_a_corrupt_folder(self):
        for text in ('{"schema"', "{}"):
            (self.out / "timing.json").write_text(text, encoding="utf-8")
            for stage in ("timing", "build"):
                done = campaign("--dry-run", self.out, stage)
                self.assertEqual(done.returncode, 1, done.stderr[-4000:])
                self.assertIn("timing.json", done.stderr)
                self.assertIn("--fresh starts over", done.stderr)

    def test_refuses_a_time_that_beats_the_device(self):
        document = self.read("timing")
        entry = next(e for e in document["benchmarks"] if e["temperature"] == "cold")
        entry["work"]["read_bytes"] = 10**15
        self.write("timing", document)
        done = validate(self.out / "timing.json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("memory peak of 4.8e+12/s (NVIDIA H200 SXM data sheet", done.stderr)
        self.assertIn(entry["name"], done.stderr)
        self.assertEqual(campaign("--dry-run", self.out, "build").returncode, 5)

    def test_does_not_time_what_is_not_shown_right(self):
        checks = self.read("correctness")
        wrong = next(e for e in checks["benchmarks"] if not e["name"].startswith("ceiling."))
        wrong["status"] = "disagrees"
        self.write("correctness", checks)
        (self.out / "timing.json").unlink()
        done = campaign("--dry-run", "--filter", wrong["name"], self.out, "timing")
        self.assertEqual(done.returncode, 5, done.stderr[-4000:])
        document = self.read("timing")
        self.assertEqual(document["benchmarks"], [])
        self.assertIn("has not shown it right", document["refused"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
