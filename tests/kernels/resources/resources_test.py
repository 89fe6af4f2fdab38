#!/usr/bin/env python3
"""The reader of ptxas logs and of budgets, on logs and trees made up here."""
import pathlib
import tempfile
import unittest

import resources

LOG = """\
ptxas info    : Compiling entry function '_ZN7tiersim7kernels7combineILi512EEEvPKf' for 'sm_90a'
ptxas info    : Function properties for _ZN7tiersim7kernels7combineILi512EEEvPKf
    40 bytes stack frame, 52 bytes spill stores, 60 bytes spill loads
ptxas info    : Used 41 registers, used 1 barriers, 40 bytes cumulative stack size
ptxas info    : Compiling entry function '_ZN7tiersim7kernels4copyEPKfPf' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers
"""


class Resources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "kernels/device").mkdir(parents=True)
        self.logs = {}
        self.before = resources.compile_for
        resources.compile_for = lambda nvcc, root, arch, path: resources.parse(LOG)
        self.addCleanup(setattr, resources, "compile_for", self.before)
        (self.root / "a.cu").write_text("int x;\n")

    def budgets(self, text):
        (self.root / resources.BUDGETS).write_text(text)
        return resources.check("nvcc", self.root, "90a", "a.cu")

    def test_kernels_are_named_with_their_template_arguments(self):
        self.assertEqual(resources.parse(LOG), {"combine<512>": (41, 112), "copy": (16, 0)})

    def test_enumerators_are_numbers(self):
        name = resources.short_name("_ZN7tiersim7kernels4tileILi64ELNS0_5ShareE2EEEvv")
        self.assertEqual(name, "tile<64,Share:2>")

    def test_within_the_budget(self):
        self.assertEqual(self.budgets("combine<512> 90a 48 112\ncopy 90a 16 0\n"), 0)

    def test_more_registers_than_the_budget(self):
        self.assertEqual(self.budgets("combine<512> 90a 40 112\ncopy 90a 16 0\n"), 1)

    def test_spills_beyond_the_budget(self):
        self.assertEqual(self.budgets("combine<512> 90a 48 0\ncopy 90a 16 0\n"), 1)

    def test_a_kernel_without_a_budget(self):
        self.assertEqual(self.budgets("copy 90a 16 0\n"), 1)

    def test_architectures_follow_from_what_a_file_includes(self):
        (self.root / "kernels/device/wgmma.cuh").write_text("\n")
        (self.root / "kernels/device/hopper.cuh").write_text("\n")
        (self.root / "b.cu").write_text('#include "kernels/device/hopper.cuh"\n')
        (self.root / "c.cuh").write_text("\n")
        (self.root / "c.cu").write_text(
            '#include "kernels/device/hopper.cuh"\n#include "kernels/device/wgmma.cuh"\n')
        self.assertEqual(resources.architectures_of(self.root, "a.cu"), ("80", "90a", "100a"))
        self.assertEqual(resources.architectures_of(self.root, "b.cu"), ("90a", "100a"))
        self.assertEqual(resources.architectures_of(self.root, "c.cu"), ("90a",))


if __name__ == "__main__":
    unittest.main()
