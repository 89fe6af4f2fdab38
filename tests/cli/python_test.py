"""The Python module and the worked example: python_test.py PROGRAM SOURCE_FOLDER."""
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from program import MAPLE, PROGRAM, SOURCE, InFolder, run

MODULE = pathlib.Path(PROGRAM).parent.parent / "python"
POISSON = SOURCE / "configs/serving/llama3_8b_h100_poisson.yaml"


def load():
    for file in sorted(MODULE.glob("tiersim*.so")):
        spec = importlib.util.spec_from_file_location("tiersim", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    return None


tiersim = load()


def with_pandas():
    """An interpreter that has pandas: this one, or the system's."""
    for python in (sys.executable, shutil.which("python3", path=os.defpath)):
        if python and subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode == 0:
            return python
    return None


PYTHON = with_pandas()


@unittest.skipUnless(tiersim, "no module: configure with -DTIERSIM_PYTHON=ON (python3-dev, pybind11-dev)")
class Module(unittest.TestCase):
    def test_a_run_is_the_record_of_the_command_line(self):
        for path, set_ in ((MAPLE, []), (MAPLE, ["step.batch=2", "step.context=4096"]),
                           (POISSON, ["workload.requests=40"])):
            options = [word for setting in set_ for word in ("--set", setting)]
            self.assertEqual(tiersim.run(path, set=set_), json.loads(run("run", path, *options, "--json").stdout))

    def test_a_configuration_is_that_of_the_record(self):
        record = tiersim.run(str(MAPLE), ["step.batch=2"])
        config = tiersim.config(MAPLE, set=["step.batch=2"])
        self.assertEqual(config, record["config"])
        self.assertEqual(config["step"]["batch"], 2)

    def test_lists_are_those_of_the_command_line(self):
        for what in ("metrics", "methods", "systems", "scenarios"):
            self.assertEqual(tiersim.list(what), json.loads(run("list", what, "--json").stdout))
        with self.assertRaisesRegex(tiersim.Error, "no list of 'modles', but of hw.*models"):
            tiersim.list("modles")

    def test_every_mistake_is_in_the_exception(self):
        mistakes = ["step.batch=many", "step.contxt=1"]
        with self.assertRaises(tiersim.ConfigError) as caught:
            tiersim.run(MAPLE, set=mistakes)
        found = caught.exception.diagnostics
        self.assertEqual(len(found), 2)
        self.assertEqual({d["file"] for d in found}, {f"--set '{m}'" for m in mistakes})
        self.assertIn("did you mean 'context'?", [d["hint"] for d in found])
        options = [word for setting in mistakes for word in ("--set", setting)]
        self.assertEqual("\n".join(d["text"] for d in found), run("run", MAPLE, *options).stderr.strip())
        self.assertEqual(str(caught.exception), "\n".join(d["text"] for d in found))

    def test_what_does_not_fit_is_a_mistake_at_its_setting(self):
        with self.assertRaises(tiersim.ConfigError) as caught:
            tiersim.run(SOURCE / "configs/scenarios/maple/llama2_7b_dense_hbm.yaml", ["step.batch=128"])
        self.assertIn("the largest batch that fits is", caught.exception.diagnostics[0]["message"])

    def test_a_file_that_is_not_there(self):
        with self.assertRaises(tiersim.Error) as caught:
            tiersim.run("nowhere.yaml")
        self.assertIn("nowhere.yaml", str(caught.exception))

    def test_threads_get_what_one_gets(self):
        batches = list(range(1, 9))
        alone = [tiersim.run(MAPLE, [f"step.batch={b}"])["results"] for b in batches]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda b: tiersim.run(MAPLE, [f"step.batch={b}"])["results"], batches))
        self.assertEqual(together, alone)

    def test_the_stub_names_what_there_is(self):
        stub = (MODULE / "tiersim.pyi").read_text()
        for name in dir(tiersim):
            if not name.startswith("__"):
                self.assertRegex(stub, rf"(def|class) {name}\b")


@unittest.skipUnless(PYTHON, "no pandas (python3-pandas)")
class Example(InFolder):
    def test_the_notebook_runs_and_its_front_is_one(self):
        example = SOURCE / "sim/python/examples/pareto.py"
        result = subprocess.run([PYTHON, "-B", example, PROGRAM, self.folder], capture_output=True,
                                text=True, timeout=120, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "pareto.db").exists())
        self.assertRegex(result.stdout, "context 262144: (MAPLE at batch|dense in the pool)")
        self.assertIn("bounded by", result.stdout)
        if "no matplotlib" not in result.stderr:
            self.assertIn("</svg>", (self.folder / "pareto.svg").read_text())

    def test_what_the_readme_shows_runs(self):
        """Every python block of the README, after the store and records that its shell block makes."""
        text = (SOURCE / "sim/python/README.md").read_text()
        subprocess.run([PROGRAM, "sweep", SOURCE / "sim/python/examples/pareto.yaml", "-o",
                        self.folder / "pareto.db"], check=True, capture_output=True)
        subprocess.run([PROGRAM, "run", MAPLE, "-o", self.folder / "maple.json"], check=True,
                       capture_output=True)
        blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
        blocks = [block for block in blocks if "import tiersim" not in block]
        self.assertGreaterEqual(len(blocks), 2)
        for block in blocks:
            result = subprocess.run([PYTHON, "-B", "-c", block], capture_output=True, text=True,
                                    cwd=self.folder, timeout=60)
            self.assertEqual(result.returncode, 0, block + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
