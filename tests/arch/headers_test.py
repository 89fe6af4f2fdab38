#!/usr/bin/env python3
"""Every header compiles alone: headers_test.py ROOT CXX GENERATED [--standard] [--every N] [HEADER...]

GENERATED is the folder of generated headers of a build. By default the headers of the standard
library are precompiled, which finds missing includes of this project in seconds; with --standard
each header has to name those of the standard library as well, which takes minutes. --every N
takes every N-th header only, from another one at each commit, so that N commits take all.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDERS = ("sim", "hwmodels", "workloads", "reports", "kernels", "tests/support")


def headers(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *FOLDERS], cwd=root,
                            text=True, capture_output=True, check=False)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [
        str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*.hpp")]
    return sorted({name for name in names if name.endswith(".hpp") and (root / name).is_file()})


def first(root, every):
    """Number of the header to begin with: that of the commits, modulo."""
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=root, text=True, capture_output=True, check=False)
    return int(counted.stdout) % every if counted.returncode == 0 else 0


class Compiler:
    def __init__(self, root, cxx, generated, folder):
        self.command = [cxx, "-std=c++20", f"-I{root}", f"-I{generated}",
                        "-isystem", "/usr/include/eigen3", "-DTIERSIM_SOURCE_DIR=\"\"", "-w"]
        self.root, self.folder, self.before = root, folder, []

    def precompile(self):
        header = self.folder / "standard.hpp"
        header.write_text('#include "sim/base/precompiled.hpp"\n', encoding="utf-8")
        subprocess.run([*self.command, header, "-o", f"{header}.gch"], check=True)
        self.before = ["-include", str(header)]

    def mistake(self, name):
        """What the compiler says of a source that includes this header alone; empty if nothing."""
        source = f'#include "{name}"\n#include "{name}"\n'
        done = subprocess.run([*self.command, *self.before, "-x", "c++", "-fsyntax-only", "-"], input=source,
                              cwd=self.root, text=True, capture_output=True, check=False)
        return "" if done.returncode == 0 else done.stderr


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "cxx", "generated"):
        parser.add_argument(name)
    parser.add_argument("--standard", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("headers", nargs="*")
    options = parser.parse_args(arguments)
    root = pathlib.Path(options.root).resolve()
    names = options.headers or headers(root)[first(root, options.every)::options.every]
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(root, options.cxx, pathlib.Path(options.generated).resolve(),
                            pathlib.Path(folder))
        if not options.standard:
            compiler.precompile()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [(name, text) for name, text in zip(names, pool.map(compiler.mistake, names))
                     if text]
    for name, text in found:
        print(f"{name} does not compile alone:\n{text[:2000]}")
    print(f"{len(names) - len(found)} of {len(names)} headers compile alone")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
