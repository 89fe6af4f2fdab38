"""The Debian packages and the Containerfile, used as their users do, each in a bare Debian:
packages_test.py SOURCE_FOLDER [FOLDER_WITH_THE_PACKAGES].

Without the second the packages are built by the steps of the Containerfile, in a bare Debian too."""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import debian_chroot

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILT = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
NAMES = ("tiersim", "libtiersim-dev", "python3-tiersim")
SCENARIO = "scenarios/maple/llama2_7b_maple.yaml"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(tiersim 0.1 REQUIRED)
add_executable(example step_time_example.cpp)
target_link_libraries(example PRIVATE tiersim::runner)
"""


@unittest.skipIf(debian_chroot.missing(), debian_chroot.missing())
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.base = debian_chroot.bare(cls.folder / "base")
        cls.containers = debian_chroot.Containerfile(SOURCE, cls.base, cls.folder)
        if BUILT:
            build = cls.containers.stages["build"] = debian_chroot.Debian(cls.folder / "build")
            build.path("/src/build/package").mkdir(parents=True)
            for file in BUILT.glob("*.deb"):
                shutil.copy(file, build.path("/src/build/package"))
        cls.container = cls.containers.run(only_last_stage=BUILT is not None)
        files = glob.glob(str(cls.containers.stages["build"].path("/src/build/package/*.deb")))
        cls.packages = {pathlib.Path(file).name.split("_")[0]: file for file in files}

    def installed(self, name, *packages):
        """A bare system with these packages, by apt with what they depend on."""
        system = self.base.copy(self.folder / name)
        self.addCleanup(shutil.rmtree, system.root)
        for package in packages:
            shutil.copy(self.packages[package], system.path("/root"))
        system.install(*(f"/root/{os.path.basename(self.packages[p])}" for p in packages))
        return system

    def record(self, system):
        """Its results of one scenario, which any way of running it gives."""
        return json.loads(system.run(f"tiersim run {SCENARIO} --json").stdout)["results"]

    def test_there_are_three_without_a_complaint_of_lintian(self):
        self.assertEqual(set(self.packages), set(NAMES))
        if not shutil.which("lintian"):
            self.skipTest("no lintian")
        result = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", *self.packages.values()],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_program_runs_with_its_manual_and_completions(self):
        system = self.installed("program", "tiersim")
        self.assertRegex(system.run(f"tiersim run {SCENARIO}").stdout, r"(?m)^step +\d")
        self.assertIn("/usr/share/tiersim/configs", system.run("tiersim doctor").stdout)
        self.assertEqual(system.run("tiersim reproduce maple --json", "/tmp", check=False).returncode, 0)
        completions = "/usr/share/bash-completion/completions/tiersim"
        self.assertIn("-F", system.run(f"bash -c '. {completions}; complete -p tiersim'").stdout)
        for file in ("zsh/site-functions/_tiersim", "fish/vendor_completions.d/tiersim.fish",
                     "doc/tiersim/copyright", "doc/tiersim/changelog.gz", "doc/tiersim/changelog.Debian.gz"):
            self.assertTrue(system.path(f"/usr/share/{file}").is_file(), file)
        system.install("man-db")
        self.assertIn("exit status", system.run("man tiersim").stdout.lower())

    def test_a_cmake_project_finds_the_libraries(self):
        system = self.installed("development", "libtiersim-dev", "tiersim")
        system.install("g++", "cmake", "make")
        project = system.path("/root/example")
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT)
        shutil.copy(SOURCE / "tests/cli/step_time_example.cpp", project)
        system.run("cmake -S . -B build && cmake --build build", "/root/example")
        configs = "/usr/share/tiersim/configs"
        time = system.run(f"build/example {configs} {configs}/{SCENARIO}", "/root/example").stdout
        self.assertEqual(float(time), self.record(system)["metrics"]["step_time_s"]["value"])

    def test_the_python_module_finds_the_configurations(self):
        system = self.installed("python", "python3-tiersim", "tiersim")
        script = f"import json, tiersim; print(json.dumps(tiersim.run('{SCENARIO}')))"
        record = json.loads(system.run(f'python3 -c "{script}"').stdout)
        self.assertEqual(record["results"], self.record(system))
        version = system.run('python3 -c "import tiersim; print(tiersim.__version__)"').stdout
        self.assertEqual(f"tiersim {version}", system.run("tiersim --version").stdout)

    def test_a_container_runs_the_program(self):
        self.assertEqual(self.containers.entry_point, ["tiersim"])
        self.assertEqual(self.container.run("tiersim list models --json", "/data").stderr, "")
        self.container.run("tiersim reproduce maple", "/data")
        self.assertEqual(glob.glob(str(self.container.path("/packages"))), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
