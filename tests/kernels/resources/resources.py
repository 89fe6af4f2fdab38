"""Registers and spills of every kernel, as ptxas reports them, against kernels/budgets.txt.

resources.py check NVCC ROOT ARCHITECTURE FILE   compiles one file of cases and compares; exit 1 if over,
    77 where the file is not made for the architecture
resources.py update NVCC ROOT FILE...            compiles all for all architectures and rewrites budgets

A budget is the figure of the compiler named in the file, rounded up to the 8 registers that the card
gives out at a time; spills have none: 0 unless the kernel's line says otherwise.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = ("80", "90a", "100a")
BUDGETS = "kernels/budgets.txt"
SKIPPED = 77  # SKIP_RETURN_CODE of ctest


def includes_of(root, path, seen=None):
    """Headers of kernels/ that a file includes, directly or not."""
    seen = set() if seen is None else seen
    for name in re.findall(r'#include "(kernels/[^"]+)"', (root / path).read_text()):
        if name not in seen and (root / name).is_file():
            seen.add(name)
            includes_of(root, name, seen)
    return seen


def architectures_of(root, path):
    """wgmma exists on sm_90a alone; transaction barriers and bulk copies from sm_90 on."""
    used = includes_of(root, path)
    if "kernels/device/wgmma.cuh" in used:
        return ("90a",)
    if "kernels/device/hopper.cuh" in used:
        return ("90a", "100a")
    return ARCHITECTURES


def short_name(mangled):
    """The kernel with its template arguments, without namespaces and parameters."""
    name = subprocess.run(["c++filt", "-p", mangled], capture_output=True, check=True,
                          text=True).stdout.strip()
    name = re.sub(r"tiersim::kernels::|\(anonymous namespace\)::", "", name)
    name = re.sub(r"\((?:\w+::)*(\w+)\)(-?\d+)", r"\1:\2", name)  # (Share)0
    name = re.sub(r"\b(\d+)(?:u|ul|l)\b", r"\1", name)  # a number is a number, whatever its type
    name = re.sub(r"^void ", "", name).replace(" ", "")
    return re.sub(r",Mistake:0(?=>)|<Mistake:0>", "", name)  # every kernel's last argument


def parse(log):
    """{kernel: (registers, spilled bytes)} from the output of ptxas -v."""
    found, kernel, spilled = {}, None, 0
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            kernel, spilled = short_name(match.group(1)), 0
        elif match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spilled = int(match.group(1)) + int(match.group(2))
        elif (match := re.search(r"Used (\d+) registers", line)) and kernel:
            if not kernel.startswith("cub::"):  # a library's, not ours to budget
                found[kernel] = int(match.group(1)), spilled
            kernel = None
    return found


def compile_for(nvcc, root, architecture, path):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [nvcc, "-std=c++20", "-O3", f"-I{root}", "-Werror", "all-warnings", "-Xcompiler",
             "-Wall,-Wextra", "-Xptxas", "-v", "-gencode",
             f"arch=compute_{architecture},code=sm_{architecture}", "-cubin", "-o",
             str(pathlib.Path(folder) / "kernels.cubin"), str(root / path)],
            capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path} does not compile for sm_{architecture}:\n{done.stdout}{done.stderr}")
    log = done.stdout + done.stderr
    if "C7510" in log or "C7515" in log:
        sys.exit(f"{path}: wgmma is serialised for sm_{architecture}:\n{log}")
    return parse(log)


def read_budgets(root):
    """{(kernel, architecture): (registers, spilled bytes)}"""
    budgets = {}
    for line in (root / BUDGETS).read_text().splitlines():
        if line and not line.startswith("#"):
            kernel, architecture, registers, spilled = line.split()
            budgets[kernel, architecture] = int(registers), int(spilled)
    return budgets


def check(nvcc, root, architecture, path):
    if architecture not in architectures_of(root, path):
        print(f"{path} is not made for sm_{architecture}")
        return SKIPPED
    found = compile_for(nvcc, root, architecture, path)
    budgets = read_budgets(root)
    wrong = []
    for kernel, (registers, spilled) in sorted(found.items()):
        if (kernel, architecture) not in budgets:
            wrong.append(f"{kernel} sm_{architecture}: no budget (resources.py update)")
            continue
        most, spill = budgets[kernel, architecture]
        if registers > most:
            wrong.append(f"{kernel} sm_{architecture}: {registers} registers, budget {most}")
        if spilled > spill:
            wrong.append(f"{kernel} sm_{architecture}: {spilled} B spilled, budget {spill}")
    print("\n".join(wrong) or f"{len(found)} kernels within their budgets")
    return 1 if wrong else 0


def update(nvcc, root, paths):
    version = re.search(r"release ([\d.]+)", subprocess.run(
        [nvcc, "--version"], capture_output=True, check=True, text=True).stdout).group(1)
    lines = []
    for path in paths:
        for architecture in architectures_of(root, path):
            for kernel, (registers, spilled) in compile_for(nvcc, root, architecture, path).items():
                lines.append(f"{kernel} {architecture} {-(-registers // 8) * 8} {spilled}")
    (root / BUDGETS).write_text(
        "# Most registers a thread, and bytes spilled (stores and loads), of each kernel.\n"
        f"# Written by tests/kernels/resources/resources.py update, nvcc {version}.\n"
        "# kernel architecture registers spilled_bytes\n" + "\n".join(sorted(set(lines))) + "\n")
    print(f"{BUDGETS}: {len(set(lines))} lines")
    return 0


def main(arguments):
    if len(arguments) >= 4 and arguments[0] == "update":
        return update(arguments[1], pathlib.Path(arguments[2]).resolve(), arguments[3:])
    if len(arguments) == 5 and arguments[0] == "check":
        return check(arguments[1], pathlib.Path(arguments[2]).resolve(), *arguments[3:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
