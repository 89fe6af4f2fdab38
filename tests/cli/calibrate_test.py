"""`tiersim calibrate` as a user runs it: output, files and errors."""
import gzip
import json
import re
import shlex
import sys
import unittest

from program import MAPLE, SOURCE, InFolder, run

EXAMPLE = SOURCE / "configs/calibration/synthetic/2026-01-01-example"
IMPOSSIBLE = SOURCE / "tests/unit/hwmodels/data/three_impossible.json"


class Calibrate(InFolder):
    def test_it_fits_every_kernel_and_reports_unseen_cases(self):
        result = run("calibrate", EXAMPLE / "timings.csv", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(result.stdout)
        self.assertEqual(len(made["fits"]), 7)
        self.assertEqual(len(made["families"]), 7)
        for fit in made["fits"]:
            low, high = fit["t0_s"]["ci95"]
            self.assertLess(low, fit["t0_s"]["value"])
            self.assertGreater(high, fit["t0_s"]["value"])
            self.assertEqual(fit["errors"]["held_out"]["count"], 8)
            self.assertEqual(fit["errors"]["largest"]["count"], 1)
        text = run("calibrate", EXAMPLE / "timings.csv").stdout
        self.assertIn("every third, held out", text)
        self.assertIn("prefill_attention   none: specification", text)

    def test_what_it_writes_is_what_a_run_takes(self):
        folder = self.folder / "calibration/synthetic/2026-01-01-mine"
        made = run("calibrate", EXAMPLE / "timings.csv", "-o", folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(sorted(file.name for file in folder.iterdir()),
                         ["cases.csv", "gpu.yaml", "report.md"])
        scenario = self.folder / "s.yaml"
        scenario.write_text(
            "schema: tiersim.scenario/v1\nbase: scenarios/maple/llama2_7b_dense_hbm.yaml\n"
            "step: {batch: 16}\nsystem: {gpu: {calibration: synthetic/2026-01-01-mine}}\n")
        result = run("run", scenario, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        results = json.loads(result.stdout)["results"]
        for name in ("step_time_s", "tpot_s", "bound_s", "throughput_tokens_per_s",
                     "screening_time_s", "energy_j_per_token", "cost_usd_per_mtoken"):
            self.assertIn("ci95", results["metrics"][name], name)
        for kernel in results["kernel_times"]:
            self.assertEqual(kernel["basis"], "transferred")
        # 8192 rows of 16 sequences are more than any timed case.
        attention = next(k for k in results["kernel_times"] if k["family"] == "attention")
        self.assertEqual(attention["beyond_timed_s"], attention["seconds"])
        self.assertIn("beyond what was timed", attention["source"])

    def test_three_impossible_cases_are_all_named(self):
        self.expect_failure(run("calibrate", IMPOSSIBLE), 3, "dense.join.67108864",
                            "host_gather.gather.loads.row256b.65536", "latent.append.b16",
                            "3 of 13 rows cannot be")

    def test_mistakes_of_all_files_come_at_once(self):
        for name in ("a.csv", "b.csv"):
            (self.folder / name).write_text("kernel,memory_bytes,time_us\nk,1000,1\nk,x,1\n")
        self.expect_failure(run("calibrate", self.folder / "a.csv", self.folder / "b.csv"), 3,
                            "a.csv:3", "b.csv:3")

    def test_timings_of_another_device_are_not_written(self):
        folder = self.folder / "h200/2026-01-01-x"
        self.expect_failure(run("calibrate", EXAMPLE / "timings.csv", "-o", folder), 3,
                            "was timed on 'synthetic', which is no h200")
        self.assertFalse(folder.exists())
        self.expect_failure(run("calibrate", EXAMPLE / "timings.csv", "-o", "x"), 2,
                            "<part>/<name>")

    def test_peaks_are_named_with_units(self):
        timings = EXAMPLE / "timings.csv"
        self.expect_failure(run("calibrate", timings, "--peak", "memroy=1 GB/s"), 2, "memory")
        self.expect_failure(run("calibrate", timings, "--peak", "l2=1"), 2, "--peak 'l2=1'")


SHEET = ["--peak", "memory=4800 GB/s", "--peak", "flops.bf16=989 TFLOP/s", "--l2", "50 MiB",
         "--sms", "132"]
MEASURED = SOURCE.parent / "shared/measured/kernels"


def made_up_rows():
    """Products that take a floor, and bytes or operations at shares of an H200's data sheet."""
    rows = ["kernel_source,gemm_dtype,m,n,k,latency"]
    for n in (512, 1024, 2048, 4096, 8192, 16384):
        for k in (512, 1024, 2048, 4096, 8192, 16384):
            for m in (1, 8, 16, 64, 128, 256, 1024, 4096):
                seconds = 3e-6 + max(2 * n * k / 4.0e12, 2 * m * n * k / 0.7e15)
                rows.append(f"made_up,bfloat16,{m},{n},{k},{seconds * 1e3:.9f}")
    return rows


def made_up_collectives(element=2):
    """Rings on a port of 450 GB/s with a floor, a rate with flags beside the data and one without."""
    rows = ["op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency"]
    for ranks in (2, 4, 8):
        for size in (1 << power for power in range(9, 30)):
            sent = (ranks - 1) / ranks * size
            seconds = min(4e-6 + 3e-7 * ranks + 2 * sent / 1.5e11, 2e-5 + 1e-6 * ranks + sent / 3.5e11)
            rows.append(f"all_gather,NCCL,half,{ranks},{size // element},{seconds * 1e3:.9f}")
    return rows


class Tables(InFolder):
    """`calibrate --table`: tables that others wrote, by a description."""

    def write(self, rows, name="gemm.csv"):
        file = self.folder / name
        text = ("\n".join(rows) + "\n").encode()
        file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return file

    def test_fits_products_and_judges_them_on_shapes_that_they_did_not_see(self):
        file = self.write(made_up_rows(), "gemm.csv.gz")
        result = run("calibrate", "--table", "gemm", file, "--json", *SHEET)
        self.assertEqual(result.returncode, 0, result.stderr)
        made = json.loads(result.stdout)
        self.assertEqual(made["rows"][0]["rows"], 288)
        self.assertEqual(made["refused"], [])
        (errors,) = made["errors"]
        self.assertEqual((errors["kernel"], errors["dtype"], errors["rows"]),
                         ("made_up bfloat16", "bf16", 288))
        self.assertLess(errors["median_abs"], 0.06)
        self.assertIsNone(errors["noise"])
        self.assertEqual(run("calibrate", "--table", "gemm", file, "--json", *SHEET).stdout,
                         result.stdout)

    def test_refuses_planted_lies_by_name(self):
        rows = made_up_rows()
        lies = {"above the peak": "made_up,bfloat16,4000,8192,8192,0.3",  # 1790 TFLOP/s
                "above the memory's rate": "made_up,bfloat16,2,16384,16384,0.05",  # 10.7 TB/s
                "no launch": "made_up,bfloat16,2,512,512,0.000003",  # seconds for milliseconds
                "slower than more work": "made_up,bfloat16,2,512,1024,3.5"}  # us for ms
        result = run("calibrate", "--table", "gemm", self.write(rows + list(lies.values())),
                     "--check", "--json", *SHEET)
        self.assertEqual(result.returncode, 0, result.stderr)
        refused = {row["rule"]: row["rows"] for row in json.loads(result.stdout)["refused"]}
        self.assertEqual(refused, dict.fromkeys(lies, 1))

    def test_fits_collectives_by_the_port_alone(self):
        port = ["--peak", "port=450 GB/s"]
        file = self.write(made_up_collectives(), "nccl.csv")
        result = run("calibrate", "--table", "nccl", file, "--json", *port)
        self.assertEqual(result.returncode, 0, result.stderr)
        (errors,) = json.loads(result.stdout)["errors"]
        self.assertEqual(errors["rows"], 63)
        self.assertLess(errors["median_abs"], 0.03)
        self.assertLess(errors["group_median_abs"], 0.1)
        self.expect_failure(run("calibrate", "--table", "nccl", file), 2, "--peak port=RATE")
        # Bytes that are taken for elements of two: 700 GB/s of a port of 450.
        lie = self.write(made_up_collectives(element=1), "bytes.csv")
        result = run("calibrate", "--table", "nccl", lie, "--check", "--json", *port)
        (refused,) = json.loads(result.stdout)["refused"]
        self.assertEqual(refused["rule"], "above the port's rate")
        self.assertGreater(refused["rows"], 10)

    def test_a_description_of_the_user_needs_no_code(self):
        description = self.folder / "mine.yaml"
        description.write_text(
            "schema: tiersim.timing_table/v1\ndescription: copies\ntime: {column: t, unit: us}\n"
            "labels: [type]\nsizes: [bytes]\ndtype: {column: type}\n"
            "memory_bytes: 2 * bytes\nflops: 0 * bytes\n")
        rows = ["type,bytes,t"] + [f"u8,{1 << i},{2 + (1 << i) / 2e6}" for i in range(10, 30)] + ["u8,1024,2.1"]
        result = run("calibrate", "--table", description, self.write(rows, "copies.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"u8 +u8 +21 +0 +20 +1 +4\.9 % +4\.9 %")

    def test_what_it_writes_calibrates_a_run(self):
        file = self.write(made_up_rows())
        for folder in ("calibration/h200/made-1", "again/h200/made-1"):
            result = run("calibrate", "--table", "gemm", file, "-o", folder, *SHEET, cwd=self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("gpu.yaml", "gemm.yaml"):  # the same bytes again
            self.assertEqual((self.folder / "calibration/h200/made-1" / name).read_bytes(),
                             (self.folder / "again/h200/made-1" / name).read_bytes())
        made = run("run", MAPLE, "--set", "system.gpu.calibration=h200/made-1", "--json", cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        kernels = {kernel["family"]: kernel for kernel in json.loads(made.stdout)["results"]["kernel_times"]}
        self.assertEqual(kernels["gemm"]["basis"], "fitted")
        self.assertEqual(kernels["gemm"]["class"], "fitted")
        self.assertTrue(kernels["gemm"]["source"].startswith("h200/made-1: made_up bfloat16"))
        self.assertEqual(kernels["screening"]["basis"], "specification")

    def test_fitted_collectives_time_a_run(self):
        def step(*options):
            result = run("run", SOURCE / "configs/scenarios/tpla/deepseek_v3_full_tp8.yaml", "--json", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            record = json.loads(result.stdout)
            (shown,) = [s["seconds"] for s in record["results"]["time_split"] if s["name"] == "collective"]
            return record, shown
        path = "system.fabrics.tensor.collective"
        record, vllm = step("--set", f"{path}.base=devices/collective_vllm_h200.yaml")
        # 122 all-reduces of 64 tokens of 7168 elements (14 us each in vLLM's timings), and some of logits.
        self.assertGreater(vllm, 122 * 11e-6)
        self.assertLess(vllm, 122 * 17e-6)
        (misfit,) = [n for n in record["provenance"]["numbers"]
                     if n["path"] == f"{path}.timed_collectives.all_reduce.misfit"]
        self.assertTrue(misfit["in_times"])
        self.assertEqual(misfit["class"], "fitted")
        self.assertEqual(len(record["results"]["metrics"]["step_time_s"]["ci95"]), 2)
        # TensorRT-LLM takes 25.7 us for the same on eight GPUs.
        self.assertGreater(step("--set", f"{path}.base=devices/collective_trtllm_h200.yaml")[1], 1.5 * vllm)
        # What a run writes as its own fits can be laid over the shipped ones.
        file = self.write(made_up_collectives(), "nccl.csv")
        made = run("calibrate", "--table", "nccl", file, "-o", "h200/made-1", "--peak", "port=450 GB/s",
                   cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("  all_gather: {form: collective",
                      (self.folder / "h200/made-1/nccl.yaml").read_text(encoding="utf-8"))
        self.assertFalse((self.folder / "h200/made-1/gpu.yaml").exists())

    def test_mistakes(self):
        file = self.write(made_up_rows())
        self.expect_failure(run("calibrate", "--table", "gem", file), 2, "did you mean 'gemm'?")
        self.expect_failure(run("calibrate", "--table", "gemm", file), 2, "--peak memory=RATE",
                            "--peak flops.bf16=RATE", "--l2 SIZE", "--sms NUMBER")
        self.expect_failure(run("calibrate", "--table", "gemm", file, "--l2", "50"), 2, "--l2 '50'")
        self.expect_failure(run("calibrate", "--table", "gemm", file, "--date", "2026-01-01"), 2,
                            "--table takes")
        self.expect_failure(run("calibrate", "--table", "gemm", file, "--check", "-o", "a/b"), 2,
                            "--check fits nothing")
        self.expect_failure(run("calibrate", file, "--sms", "132"), 2, "go with --table")
        shuffled = self.write(["kernel_source,gemm_dtype,n,m,latency,k",
                               "made_up,bfloat16,512,1,0.003,sixteen"], "shuffled.csv")
        self.expect_failure(run("calibrate", "--table", "gemm", shuffled, "--check"), 3,
                            "shuffled.csv:2:30: error: 'sixteen' is no number")
        damaged = self.write(made_up_rows(), "damaged.csv.gz")
        damaged.write_bytes(damaged.read_bytes()[:100])
        self.expect_failure(run("calibrate", "--table", "gemm", damaged), 3, "is damaged")

    @unittest.skipUnless(MEASURED.is_dir(), "no measured tables beside the project")
    def test_products_of_an_h200_are_within_the_band_of_their_kind(self):
        (file,) = (MEASURED / "h200_sxm").glob("gemm__trtllm_*.csv.gz")
        made = json.loads(run("calibrate", "--table", "gemm", file, "--json", *SHEET, "--peak",
                              "flops.fp8=1979 TFLOP/s").stdout)
        errors = {row["kernel"].split()[1]: row for row in made["errors"]}
        # The goals are 3 and 10 % (bf16), 5 and 14 % (fp8). Seen: 3.6 and 9.9, 2.1 and 6.4.
        self.assertLess(errors["bfloat16"]["median_abs"], 0.04)
        self.assertLess(errors["bfloat16"]["p90_abs"], 0.11)
        self.assertLess(errors["fp8"]["median_abs"], 0.03)
        self.assertLess(errors["fp8"]["p90_abs"], 0.08)

    @unittest.skipUnless(MEASURED.is_dir(), "no measured tables beside the project")
    def test_shipped_fits_are_written_again_byte_for_byte(self):
        """By the command at their head; those of one GPU and engine, as the others take minutes."""
        shipped = SOURCE / "configs/calibration/a100_80/trtllm-1.0.0"
        files = sorted(shipped.glob("*.yaml"))
        self.assertGreaterEqual(len(files), 4)
        for file in files:
            if file.name == "gpu.yaml":
                continue
            head = file.read_text(encoding="utf-8").split("`")[1]
            arguments = shlex.split(head)[1:]
            at = next(i for i, a in enumerate(arguments) if a.endswith(".csv.gz"))
            arguments[at] = MEASURED / "a100_sxm" / arguments[at]
            made = run(*arguments, "-o", self.folder / "a100_80/trtllm-1.0.0")
            self.assertEqual(made.returncode, 0, made.stderr)
        for file in files:
            self.assertEqual((self.folder / "a100_80/trtllm-1.0.0" / file.name).read_bytes(),
                             file.read_bytes(), file.name)

    @unittest.skipUnless(MEASURED.is_dir(), "no measured tables beside the project")
    def test_readme_of_calibrate_quotes_what_is_printed(self):
        text = (SOURCE / "hwmodels/calibrate/README.md").read_text(encoding="utf-8")
        command, quoted = re.search(r"```console\n\$ tiersim (.*?)\n\n(.*?)```", text, re.S).groups()
        arguments = shlex.split(command.replace("\\\n", " "))
        at = next(i for i, a in enumerate(arguments) if a.endswith(".csv.gz"))
        arguments[at] = MEASURED / arguments[at]
        self.assertIn(quoted, run(*arguments).stdout)


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
        self.expect_failure(with_column(at, 0.5), 3, "changed.csv:10:37: error: my_gemm.bf16",
                            "elements for bytes: memory_bytes is 16785408, but its sizes (bf16, k 4096, m 1, "
                            "n 4096) give 33570816 B: 0.5 times that", "11 of 11 rows cannot be")
        self.expect_failure(with_column(at, 1.073), 3, "1.073 times that", "11 of 11 rows cannot be")
        self.expect_failure(with_column(at + 1, 0.5, [1]), 3, "changed.csv:11:47: error: ",
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
                            "did you mean 'memory_bytes'?")
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


class CalibrateMemory(InFolder):
    DEVICES = SOURCE / "configs/devices"

    def test_a_shipped_file_is_written_again_byte_for_byte(self):
        """By the command at its head; the others of the folder are written in the same way."""
        shipped = SOURCE / "configs/calibration/memory/gh200_lpddr5x.yaml"
        verb, memory, device = shlex.split(shipped.read_text().split("`")[1])[1:4]
        made = run(verb, memory, self.DEVICES / device, "-o", "again.yaml", cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual((self.folder / "again.yaml").read_bytes(), shipped.read_bytes())
        self.assertRegex(made.stdout, r"\n4 KiB +100\.0 % +98\.\d %")

    def test_what_it_writes_makes_a_data_sheet_a_device(self):
        """From a file without the numbers of the flow level to one that a run takes."""
        sheet = "\n".join(
            line for line in (self.DEVICES / "gh200_lpddr5x.yaml").read_text().splitlines()
            if not line.startswith("base:"))
        (self.folder / "sheet.yaml").write_text(sheet)
        self.expect_failure(run("config", "show", self.folder / "sheet.yaml"), 3,
                            "missing required key 'read_efficiency'")
        made = run("calibrate", "memory", "sheet.yaml", "-o", "flow.yaml", "--json",
                   cwd=self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        fit = json.loads(made.stdout)
        for curve in fit["curves"]:
            self.assertEqual(len(curve["added_s"]), len(fit["loads"]))
            self.assertEqual(curve["added_s"], sorted(curve["added_s"]))
            self.assertLessEqual(curve["reaches"], 1)
        streams = next(c for c in fit["curves"] if c["run_bytes"] == 4096 and c["read_share"] == 1)
        self.assertAlmostEqual(streams["reaches"], fit["read_efficiency"])
        (self.folder / "mine.yaml").write_text(sheet + "\nbase: flow.yaml\n")
        self.assertEqual(run("config", "show", self.folder / "mine.yaml").returncode, 0)

    def test_mistakes_are_told_before_anything_is_written(self):
        link = self.DEVICES / "pcie_gen5_x16.yaml"
        self.expect_failure(run("calibrate", "memory", link, "-o", self.folder / "it.yaml"), 3,
                            "pcie_gen5_x16.yaml:1:1: error: model: is pcie")
        dram = self.DEVICES / "ddr5_4800_host_8.yaml"
        self.expect_failure(run("calibrate", "memory", dram, "--set", "packet_level=~", "-o",
                                self.folder / "it.yaml"), 3, "packet_level: is missing")
        self.expect_failure(run("calibrate", "memory", dram, "--set",
                                "packet_level.timings.t_cl=14", "-o", self.folder / "it.yaml"), 3,
                            "'14' has no unit")
        self.expect_failure(run("calibrate", "memory"), 2, "name a device")
        self.expect_failure(run("calibrate", "memory", dram, "-o", "/no/folder/it.yaml"), 2)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
