#!/usr/bin/env python3
"""The tables of the timed H200 in the columns of aiconfigurator's database are what its campaign timed, and
`tiersim validate kernels` holds the fits to published timings against them. TIERSIM_UPDATE_DOCUMENTS writes them."""
import collections
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import unittest

from program import SOURCE, run

CAMPAIGN = SOURCE / "configs/calibration/h200/2026-11-27-796cdf1"
HEADERS = {
    "generation_attention": "kernel_source,attn_dtype,kv_cache_dtype,batch_size,num_heads,num_key_value_heads,"
                            "head_dim,window_size,isl,beam_width,step,latency",
    "generation_mla": "kernel_source,mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency",
    "gemm": "kernel_source,gemm_dtype,m,n,k,latency",
}


def row_of(case, shape, milliseconds):
    """The table and the row of a timed case, or None for a kernel that the tables do not have."""
    size = shape.get
    if case["kernel"] in ("dense_decode", "gqa_decode"):
        return "generation_attention", (
            f"own,bfloat16,bfloat16,{size('batch')},{size('kv_heads') * size('group')},{size('kv_heads')},"
            f"{size('head_dim')},0,1,1,{size('context') - 1},{milliseconds:.6f}")
    if case["kernel"] == "latent_decode" and case["variant"] == "wgmma" and size("latent_dim") == 512:
        return "generation_mla", (f"own,bfloat16,bfloat16,{size('heads')},{size('batch')},1,1,{size('context') - 1},"
                                  f"{milliseconds:.6f}")
    if case["variant"] == "cublaslt":
        return "gemm", f"own,bfloat16,{size('m')},{size('n')},{size('k')},{milliseconds:.6f}"
    return None


def tables():
    timed = collections.defaultdict(list)
    for case in json.loads((CAMPAIGN / "timing.json").read_text())["benchmarks"]:
        if case["temperature"] == "cold":
            timed[case["case"]].append(case)
    texts = {name: [header] for name, header in HEADERS.items()}
    for _, cases in sorted(timed.items()):
        milliseconds = statistics.median(case["real_time"] for case in cases) / 1e6
        made = row_of(cases[0], cases[0]["shape"], milliseconds)
        if made:
            texts[made[0]].append(made[1])
    return {name: "\n".join(lines) + "\n" for name, lines in texts.items()}


class CampaignTables(unittest.TestCase):
    def test_they_are_what_was_timed(self):
        for name, text in tables().items():
            path = CAMPAIGN / "tables" / f"{name}.csv"
            if os.environ.get("TIERSIM_UPDATE_DOCUMENTS"):
                path.write_text(text)
            with self.subTest(name):
                self.assertEqual(path.read_text(), text)
                self.assertGreater(text.count("\n"), 14)

    def test_the_fits_are_what_calibrate_makes_of_the_timings(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "h200" / CAMPAIGN.name
            result = run("calibrate", CAMPAIGN / "ceilings.json", CAMPAIGN / "timing.json", "-o", out)
            self.assertEqual(result.returncode, 0, result.stderr)
            for name in ("gpu.yaml", "cases.csv"):
                self.assertEqual((out / name).read_text(), (CAMPAIGN / name).read_text(), name)

    def test_the_page_quotes_what_predict_prints(self):
        timings = [word for name in ("ceilings", "timing") for word in ("--timings", CAMPAIGN / f"{name}.json")]
        printed = run("predict", SOURCE / "configs/predictions/h200.yaml", *timings).stdout.splitlines()
        quoted = re.search(r"```text\n(id .*?)```", (CAMPAIGN / "README.md").read_text(), re.S).group(1)
        self.assertEqual(quoted.splitlines(), printed[1:10])

    def test_the_page_and_the_readme_quote_the_errors_of_published_fits(self):
        page = (CAMPAIGN / "README.md").read_text()
        errors = {}
        for table, line in (("gemm", "products, cuBLASLt"), ("generation_attention", "decode attention, bf16"),
                            ("generation_mla", "latent decode, 512")):
            quoted = next(row for row in page.splitlines() if row.startswith(f"| {line}")).split("|")
            for column, fits in ((3, "vllm-0.24.0"), (4, "trtllm-1.3.0rc20")):
                with self.subTest(table=table, fits=fits):
                    result = run("validate", "kernels", CAMPAIGN / "tables" / f"{table}.csv", "--table", table,
                                 "--system", "configs/systems/h200_host_dram.yaml", "--set",
                                 f"gpu.calibration=h200/{fits}", "--no-files", cwd=SOURCE)
                    self.assertEqual(result.returncode, 5, result.stderr)  # the goals are for the engine's own kernels
                    printed = re.search(r"bf16 +\d+ +([\d.]+) % +([\d.]+) % +([+-][\d.]+) %", result.stdout).groups()
                    self.assertEqual(", ".join(printed) + " %", quoted[column].strip())
                    errors[table, fits] = float(printed[0])
        self.assertIn(f"vLLM's fits are {errors['gemm', 'vllm-0.24.0']} % off for products, "
                      f"{errors['generation_attention', 'vllm-0.24.0']} % for decode attention and "
                      f"{errors['generation_mla', 'vllm-0.24.0']:.0f} % for latent attention",
                      (SOURCE / "README.md").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
