"""Timings as users write them: the examples of FORMATS.md, mistakes, kernels and calibrations of their own."""
import json
import re
import shlex
import sys
import unittest

from program import MAPLE, SOURCE, InFolder, run

EXAMPLE = SOURCE / "configs/calibration/synthetic/2026-01-01-example"
FORMATS = (SOURCE / "hwmodels/calibrate/FORMATS.md").read_text(encoding="utf-8")


def page_files():
    """The files that FORMATS.md shows, by their names."""
    return dict(re.findall(r"`([\w.]+)`:\n```\w+\n(.*?)```", FORMATS, re.S))


class Formats(InFolder):
    """FORMATS.md, and the mistakes of somebody who writes timings by hand."""

    def setUp(self):
        super().setUp()
        for name, text in page_files().items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def calibrate(self, *arguments):
        return run("calibrate", *arguments, cwd=self.folder)

    def mine(self, old, new, count=1):
        """mine.csv of the page with a change, as a file."""
        text = page_files()["mine.csv"]
        self.assertGreaterEqual(text.count(old), count)
        (self.folder / "changed.csv").write_text(text.replace(old, new), encoding="utf-8")
        return self.calibrate("changed.csv", "--check")

    def test_the_examples_of_the_page_are_read(self):
        commands = re.findall(r"^tiersim calibrate (.*)$", FORMATS, re.M)
        self.assertEqual(len(commands), 5)
        for command in commands:
            result = self.calibrate(*shlex.split(command))
            self.assertEqual(result.returncode, 0, (command, result.stderr))
        profile = self.calibrate("--table", "by_range.yaml", "report_cuda_gpu_kern_sum.csv", "--json")
        self.assertEqual(profile.returncode, 0, profile.stderr)
        self.assertEqual(json.loads(profile.stdout)["rows"][0]["rows"], 2)
        self.assertIn("note: report_cuda_gpu_kern_sum.csv: 1 rows of 1 names follow no rule of 'kernels' and "
                      "are left out: void fill(float*)", profile.stderr)

    def test_bytes_and_flops_are_those_of_the_sizes(self):
        text = page_files()["mine.csv"]
        header = next(line for line in text.splitlines() if line.startswith("kernel"))
        at = header.split(",").index("memory_bytes")

        def with_column(column, factor, rows=None):
            lines = text.splitlines()
            start = lines.index(header) + 1
            for i in range(start, len(lines)):
                cells = lines[i].split(",")
                if rows is None or i - start in rows:
                    cells[column] = str(round(int(cells[column]) * factor))
                lines[i] = ",".join(cells)
            (self.folder / "changed.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return self.calibrate("changed.csv", "--check")
        self.expect_failure(with_column(at, 0.5), 3, "changed.csv:10:38: error: my_gemm.bf16",
                            "elements for bytes: memory_bytes is 16785408, but its sizes (bf16, k 4096, m 1, "
                            "n 4096) give 33570816 B: 0.5 times that", "11 of 11 rows cannot be")
        self.expect_failure(with_column(at, 1.073), 3, "1.073 times that", "11 of 11 rows cannot be")
        self.expect_failure(with_column(at + 1, 0.5, [1]), 3, "changed.csv:11:48: error: ",
                            "FLOPs against sizes: flops is 268435456", "give 536870912 FLOP: 0.5 times that",
                            "1 of 11 rows cannot be")

    def test_ways_to_write_a_csv(self):
        text = page_files()["mine.csv"]
        file = self.folder / "changed.csv"
        for data in (text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + text.encode()):
            file.write_bytes(data)
            result = self.calibrate("changed.csv", "--check")
            self.assertEqual((result.returncode, result.stdout), (0, "11 cases, none refused\n"), result.stderr)
        for data, said in ((b"", "changed.csv:1:1: error: this file is empty"),
                           (b"\r\n\r\n", "changed.csv:1:1: error: this file is empty"),
                           (text.encode("utf-16"), "changed.csv:1:1: error: this file is UTF-16 (save it as "),
                           (text.replace(",", ";").encode(), "changed.csv:9:7: error: cells are separated by ';'"),
                           (text.replace(",", "\t").encode(), "changed.csv:9:7: error: cells are separated by tabs"),
                           (text.split("kernel,")[0].encode(), "no header line names the columns")):
            file.write_bytes(data)
            self.expect_failure(self.calibrate("changed.csv", "--check"), 3, said)

    def test_mistakes_in_a_csv(self):
        self.expect_failure(self.mine("time_us", "time (us)"), 3, "did you mean 'time_us'?")
        self.expect_failure(self.mine("time_us", "time_usec"), 3, "did you mean 'time_us'?")
        self.expect_failure(self.mine("memory_bytes", "bytes"), 3, "changed.csv:9:", "unknown column 'bytes'",
                            "known are: name, kernel, ", "memory_bytes")
        self.expect_failure(self.mine("shape.m", "m"), 3, "unknown column 'm' (shape.m where it is a size")
        self.expect_failure(self.mine("time_us", "time_ms"), 3, "unit slip")
        self.expect_failure(self.mine("time_us", "time_ns"), 3, "above the peak", "a unit slip: 1000 times that time")
        self.expect_failure(self.mine("family.gemm: my_gemm", "family.gem: my_gemm"), 3,
                            "changed.csv:6:1: error: no family of kernels is called 'gem'")
        self.expect_failure(self.mine("family.gemm: my_gemm", "family.gemm: mygemm"), 3,
                            "changed.csv:6:1: error: no row is of the kernel 'mygemm' (kernels: my_decode, my_gemm")

    def test_reports_of_profilers_name_the_way(self):
        for name, profiler in (("report_cuda_gpu_kern_sum.csv", "nsys"), ("report_cuda_gpu_trace.csv", "nsys"),
                               ("nvbench.csv", "nvbench")):
            self.expect_failure(self.calibrate(name), 3, f"this is a report of {profiler}",
                                f"'format: {profiler}' and use --table FILE")

    def test_help_names_columns_kernels_and_families(self):
        shown = run("calibrate", "--help").stdout
        for word in ("memory_bytes", "time_us", "shape.SIZE", "--family", "latent_decode", "grouped_attention",
                     "FORMATS.md", "nsys", "nvbench"):
            self.assertIn(word, shown)

    def test_the_page_lists_what_the_program_knows(self):
        shown = " ".join(run("calibrate", "--help").stdout.split())
        kernels = re.search(r"which need no family: (.*?)\.", shown).group(1).split(", ")
        self.assertGreater(len(kernels), 20)
        for kernel in kernels:
            self.assertRegex(FORMATS, rf"\b{kernel}\b")


class Families(InFolder):
    """Kernels by the user's names, and a calibration by its path."""

    def setUp(self):
        super().setUp()
        text = (EXAMPLE / "timings.csv").read_text(encoding="utf-8")
        self.timings = self.folder / "own.csv"
        self.timings.write_text(text.replace("dense_decode", "my_attention").replace(
            "projection", "my_gemm"), encoding="utf-8")

    def test_a_kernel_stands_for_the_family_that_the_user_says(self):
        families = ["--family", "my_attention=attention", "--family", "my_gemm=gemm"]
        made = run("calibrate", self.timings, *families, "-o", self.folder / "cal/synthetic/own-1")
        self.assertEqual(made.returncode, 0, made.stderr)
        text = (self.folder / "cal/synthetic/own-1/gpu.yaml").read_text(encoding="utf-8")
        self.assertIn('kernel: "my_attention/fma bf16"', text)
        named = run("calibrate", EXAMPLE / "timings.csv", "-o", self.folder / "cal/synthetic/own-2")
        self.assertEqual(named.returncode, 0, named.stderr)
        other = (self.folder / "cal/synthetic/own-2/gpu.yaml").read_text(encoding="utf-8")
        numbers = re.findall(r"value: [\d.]+", text)
        self.assertEqual(numbers, re.findall(r"value: [\d.]+", other))  # the same fits by other names
        # By its path: of the folder, of the file, from a scenario beside it, and as an option.
        scenario = self.folder / "sub/s.yaml"
        scenario.parent.mkdir()
        for path in ("../cal/synthetic/own-1", "../cal/synthetic/own-1/gpu.yaml",
                     str(self.folder / "cal/synthetic/own-1")):
            scenario.write_text(
                "schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_dense_hbm.yaml\n"
                f"step: {{batch: 16}}\nsystem: {{gpu: {{calibration: {path}}}}}\n", encoding="utf-8")
            result = run("run", scenario, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            kernels = {k["family"]: k for k in json.loads(result.stdout)["results"]["kernel_times"]}
            self.assertTrue(kernels["attention"]["source"].startswith("synthetic/own-1: my_attention"))
        result = run("run", MAPLE, "--set", "system.gpu.calibration=cal/synthetic/own-1", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("synthetic/own-1: my_", result.stdout)
        self.expect_failure(run("run", MAPLE, "--set", "system.gpu.calibration=./cal/none", cwd=self.folder), 3,
                            "there is no calibration './cal/none' (looked for ")

    def test_mistakes_of_families(self):
        self.expect_failure(run("calibrate", self.timings, "--family", "my_gemm"), 2, "is not NAME=FAMILY")
        self.expect_failure(run("calibrate", self.timings, "--family", "my_gemm=gem"), 2, "did you mean 'gemm'?")
        self.expect_failure(run("calibrate", self.timings, "--family", "mygemm=gemm"), 2,
                            "no row is of the kernel 'mygemm' (kernels: ", "my_gemm")
        self.expect_failure(run("calibrate", "--table", "gemm", self.timings, "--family", "my_gemm=gemm"), 2,
                            "--table takes")

    def test_what_is_missing_names_what_helps(self):
        """--peak is named where a rate is missing, and only there."""
        bare = self.folder / "bare.csv"
        lines = self.timings.read_text(encoding="utf-8").splitlines(keepends=True)
        bare.write_text("".join(line for line in lines if not line.startswith("# peak")), encoding="utf-8")
        folder = self.folder / "synthetic/own-1"
        refused = run("calibrate", bare, "--family", "my_gemm=gemm", "-o", folder)
        self.expect_failure(refused, 3, "bare.csv:1:1: error: ", "(--peak memory=RATE)", "(--peak flops.bf16=RATE)")
        refused = run("calibrate", EXAMPLE / "timings.csv", "-o", self.folder / "h200/own-1")
        self.expect_failure(refused, 3, "timings.csv:1:1: error: was timed on 'synthetic', which is no h200",
                            "nothing was written")
        self.assertNotIn("--peak", refused.stderr)
        own = self.folder / "alone.csv"
        own.write_text("".join(line for line in lines if line.startswith(("#", "name,", "my_gemm"))),
                       encoding="utf-8")
        refused = run("calibrate", own, "-o", folder)
        self.expect_failure(refused, 3, "none of the fitted kernels stands for a family of the simulator "
                            "(--family NAME=KIND")
        self.assertNotIn("--peak", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
