#!/usr/bin/env python3
"""./tiersim as a user runs it, on a small project that is built in a second without a compiler.

front_door_test.py ROOT: the repository whose `tiersim` and `.ci/` are tested.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

REPOSITORY = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
set(program "${PROJECT_BINARY_DIR}/bin/tiersim")
add_custom_command(OUTPUT "${program}" DEPENDS "${PROJECT_SOURCE_DIR}/sim/program.sh"
  COMMAND sh "${PROJECT_SOURCE_DIR}/sim/build.sh" "${PROJECT_SOURCE_DIR}/sim/program.sh" "${program}"
  VERBATIM)
add_custom_target(tiersim_program ALL DEPENDS "${program}")
include(CTest)
add_custom_target(tests_ci DEPENDS tiersim_program)
if(BUILD_TESTING)
  foreach(test IN ITEMS good slow)
    add_test(NAME ${test} COMMAND "${CMAKE_COMMAND}" -E true)
  endforeach()
  add_test(NAME bad COMMAND "${CMAKE_COMMAND}" -E false)
  set_tests_properties(good PROPERTIES LABELS "unit;ci")
  set_tests_properties(bad PROPERTIES LABELS "cli;ci")
  set_tests_properties(slow PROPERTIES LABELS "unit;nightly")
endif()
"""
PRESETS = """\
{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
 "binaryDir": "${sourceDir}/build/release"}]}
"""
BUILD = """\
echo build >>"$(dirname "$1")/../builds"; sleep 0.3
mkdir -p "$(dirname "$2")"; cp "$1" "$2"; chmod +x "$2"
"""
PROGRAM = '#!/bin/sh\necho "ran in $PWD:" "$@"\n[ "$1" != fail ] || exit 5\n'


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def heeds_interrupts():
    """Jobs that a script starts in the background ignore them, and pass that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        self.root = self.top / "a checkout"
        for name in ("tiersim", ".ci/install", ".ci/packages"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.root / name)
        for name, text in (("CMakeLists.txt", PROJECT), ("CMakePresets.json", PRESETS),
                           ("sim/build.sh", BUILD), ("sim/program.sh", PROGRAM)):
            write(self.root / name, text)
        self.stubs = self.top / "stubs"
        self.env = {**os.environ, "TIERSIM_NO_INSTALL": "1",
                    "PATH": f"{self.stubs}:{os.environ['PATH']}"}
        for name in ("TIERSIM_BUILD_DIR", "TIERSIM_NO_BUILD", "CTEST_PARALLEL_LEVEL"):
            self.env.pop(name, None)

    def stub(self, name, text):
        """A command that stands before the real one in PATH."""
        write(self.stubs / name, "#!/bin/sh\n" + text, 0o755)

    def run_it(self, *arguments, script=None, cwd=None, **environment):
        return subprocess.run(
            [str(script or self.root / "tiersim"), *arguments], cwd=cwd or self.root, text=True,
            env={**self.env, **environment}, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=60, check=False)

    def builds(self):
        return (self.root / "builds").read_text(encoding="utf-8").count("build")


class RunsTheProgram(Checkout):
    def test_builds_first_and_keeps_stdout_for_the_program(self):
        done = self.run_it("run", "two words")
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"ran in {self.root}: run two words\n"), done.stderr)
        self.assertIn("building", done.stderr)

    def test_tells_how_far_it_is_where_stderr_is_no_terminal(self):
        write(self.root / "sim/build.sh", "sleep 2.5\n" + BUILD)
        told = self.run_it("run", TIERSIM_PROGRESS_SECONDS="1").stderr
        self.assertGreaterEqual(len(re.findall(r"^tiersim: \[\d+/[\d?]+\] building$", told, re.M)), 2, told)
        write(self.root / "sim/build.sh", BUILD)
        self.assertNotIn("] building", self.run_it("run").stderr)

    def test_a_build_without_vega_lite_says_so_once(self):
        fetch, build = REPOSITORY / "sim/cmake/vega", self.root / "build/release"
        self.stub("npm", "echo no network >&2; exit 3\n")
        place = {"NPM": self.stubs / "npm", "MODE": "AUTO", "LOCK": fetch, "WORK": build / "vega", "ABSENT": build / "vega/absent",
                 "BUNDLE": build / "share/tiersim/vega.js", "STAMP": build / "vega/fetched"}
        done = subprocess.run(["cmake", *(f"-D{key}={value}" for key, value in place.items()), "-P", fetch / "fetch.cmake"],
                              capture_output=True, text=True, check=True)
        self.assertIn("No Vega-Lite (npm ci failed (3)", done.stderr)
        self.assertEqual((build / "vega/absent").read_text(), "npm ci failed (3)\n")
        self.assertFalse((build / "share/tiersim/vega.js").exists())
        told = "tiersim: no Vega-Lite (npm ci failed (3)): the charts of 'report html' will stand still\n"
        self.assertEqual([self.run_it("run").stderr.count(told) for _ in range(2)], [1, 0])

    def test_passes_the_exit_code_on(self):
        self.assertEqual(self.run_it("fail").returncode, 5)

    def test_works_from_another_folder_and_through_a_link(self):
        elsewhere = self.top / "elsewhere"
        elsewhere.mkdir()
        link = elsewhere / "ts"
        link.symlink_to("../a checkout/tiersim")
        for script in (self.root / "tiersim", link, "./ts"):
            done = self.run_it("run", script=script, cwd=elsewhere)
            self.assertEqual(done.stdout, f"ran in {elsewhere}: run\n", done.stderr)

    def test_needs_no_writable_home(self):
        done = self.run_it("run", HOME="/proc/none")
        self.assertEqual(done.returncode, 0, done.stderr)


    def test_can_build_outside_the_checkout(self):
        done = self.run_it("run", TIERSIM_BUILD_DIR=str(self.top / "else where"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.root / "build").exists())
        write(self.root / "sim/program.sh", '#!/bin/sh\necho "$TIERSIM_CONFIGS"\n')
        for inside, configs in ((False, self.root / "configs"), (True, "")):  # those above it are found by itself
            build = (self.root if inside else self.top) / "other build"
            told = self.run_it("run", TIERSIM_BUILD_DIR=str(build)).stdout
            self.assertEqual(told, f"{configs}\n")
        told = self.run_it("run", TIERSIM_BUILD_DIR=str(self.top / "other build"), TIERSIM_CONFIGS="mine").stdout
        self.assertEqual(told, "mine\n")
        write(self.root / "sim/program.sh", PROGRAM)
        done = self.run_it("run", TIERSIM_BUILD_DIR="/proc/none")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cannot write to /proc/none; TIERSIM_BUILD_DIR=FOLDER", done.stderr)

    def test_an_interrupt_ends_it_with_130(self):
        slow = f"#!/bin/sh\ntouch '{self.top}/begun'; exec sleep 60\n"
        for build, program in ((slow, PROGRAM), (BUILD, slow)):  # while building, while running
            write(self.root / "sim/build.sh", build)
            write(self.root / "sim/program.sh", program)
            with subprocess.Popen([self.root / "tiersim", "run"], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True, preexec_fn=heeds_interrupts) as begun:
                self.wait_for(lambda: (self.top / "begun").exists())
                self.wait_for(lambda: self.interrupt(begun) is not None)
                self.assertIn(begun.returncode, (130, -signal.SIGINT))
            self.assertEqual((self.root / "build/release/bin/tiersim").exists(), build == BUILD)
            (self.top / "begun").unlink()

    @staticmethod
    def interrupt(process):
        """Ctrl-C, as often as it takes: a shell between two commands may hold one back."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        return process.poll()

    def wait_for(self, condition, seconds=40):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, "still running")
            time.sleep(0.1)


class Rebuilds(Checkout):
    def test_an_unchanged_tree_starts_no_build_tool_and_says_nothing(self):
        self.run_it("run")
        for tool in ("cmake", "ninja", "dpkg-query"):
            self.stub(tool, "exit 99\n")
        done = self.run_it("run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_changed_or_removed_source_is_built_again(self):
        extra = self.root / "sim/extra.cpp"
        write(extra, "")
        self.run_it("run")
        time.sleep(0.02)
        write(self.root / "sim/program.sh", "#!/bin/sh\necho changed\n")
        self.assertEqual(self.run_it("run").stdout, "changed\n")
        self.assertEqual(self.builds(), 2)
        time.sleep(0.02)
        extra.unlink()
        self.assertIn("building", self.run_it("run").stderr)

    def test_a_moved_checkout_is_configured_anew(self):
        self.run_it("run")
        moved = self.top / "moved"
        self.root.rename(moved)
        done = self.run_it("run", script=moved / "tiersim", cwd=moved)
        self.assertEqual((done.returncode, done.stdout), (0, f"ran in {moved}: run\n"), done.stderr)

    def test_two_at_once_build_once(self):
        both = [subprocess.Popen([self.root / "tiersim", "run"], env=self.env, cwd=self.root,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                for _ in range(2)]
        self.assertEqual([p.communicate(timeout=60)[0] for p in both],
                         [f"ran in {self.root}: run\n"] * 2)
        self.assertEqual(self.builds(), 1)

    def test_a_failed_build_says_why_and_is_tried_again(self):
        write(self.root / "sim/build.sh", "echo missing semicolon; exit 1\n")
        for _ in range(2):
            done = self.run_it("run")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("missing semicolon", done.stderr)
        write(self.root / "sim/build.sh", BUILD)
        self.assertEqual(self.run_it("run").returncode, 0)


class RunsTheTests(Checkout):
    def test_only_those_of_every_change_and_all_with_the_option(self):
        done = self.run_it("test", "-E", "bad")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 1\n", done.stdout)
        done = self.run_it("test", "--all", "-E", "bad")
        self.assertIn("100% tests passed, 0 tests failed out of 2\n", done.stdout)

    def test_one_layer(self):
        done = self.run_it("test", "-L", "unit")
        self.assertIn("0 tests failed out of 1\n", done.stdout)

    def test_a_failure_is_exit_code_1(self):
        self.assertEqual(self.run_it("test").returncode, 1)

    def test_running_no_test_is_a_failure(self):
        self.assertEqual(self.run_it("test", "-R", "no_such").returncode, 1)

    def test_a_verb_after_the_tests_does_not_configure_again(self):
        self.run_it("test")
        time.sleep(0.02)
        write(self.root / "sim/program.sh", PROGRAM)
        self.stub("cmake", f'[ "$1" != --preset ] || exit 99\nexec {shutil.which("cmake")} "$@"\n')
        done = self.run_it("run")
        self.assertEqual(done.returncode, 0, done.stderr)


class InstallsPackages(Checkout):
    """With apt-get, dpkg-query, sudo and id replaced: every call of apt-get is noted."""

    def setUp(self):
        super().setUp()
        self.env.pop("TIERSIM_NO_INSTALL")
        self.calls = self.top / "calls"
        self.stub("dpkg-query", 'for p; do case $p in -*|*"{"*|cmake) ;; *) '
                                'echo "$p installed";; esac; done\n')
        self.stub("apt-get", f'echo "$DEBIAN_FRONTEND $*" >>"{self.calls}"\n')
        self.stub("id", "echo 0\n")

    def noted(self):
        lines = self.calls.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if " -s " not in line]

    def test_asks_apt_for_what_is_missing_and_no_more(self):
        done = self.run_it("run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing Debian packages: cmake\n", done.stderr)
        self.assertEqual(self.noted(), ["noninteractive -qq -o Dpkg::Use-Pty=0 install -y "
                                        "--no-install-recommends cmake"])

    def test_a_program_that_the_list_names_serves_without_its_package(self):
        packages = self.root / ".ci/packages"
        packages.write_text(packages.read_text(encoding="utf-8") + "build     cmake cmake\n",
                            encoding="utf-8")
        done = self.run_it("run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.calls.exists())

    def test_refreshes_the_lists_only_when_the_first_try_fails(self):
        self.stub("apt-get", f'echo "x $*" >>"{self.calls}"\n'
                             f'case $* in *update*) touch "{self.top}/fresh";; '
                             f'*) [ -f "{self.top}/fresh" ];; esac\n')
        done = self.run_it("run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[4] for line in self.noted()], ["update", "install"])

    def test_without_root_it_prints_the_command_to_run(self):
        self.stub("id", "echo 1000\n")
        self.stub("sudo", "exit 1\n")
        done = self.run_it("run")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake",
                      done.stderr)
        self.assertFalse(self.calls.exists())

    def test_without_root_it_uses_sudo_where_that_asks_nothing(self):
        self.stub("id", "echo 1000\n")
        self.stub("sudo", f'[ "$1" = -n ] && shift\necho sudo >>"{self.top}/sudo"\nexec "$@"\n')
        self.assertEqual(self.run_it("run").returncode, 0)
        self.assertEqual(len(self.noted()), 1)
        self.assertTrue((self.top / "sudo").exists())


if __name__ == "__main__":
    unittest.main()
