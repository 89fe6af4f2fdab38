// Small campaign files with round numbers, which tests then break.
#pragma once
#include <string>

#include "kernels/campaign/documents.hpp"
#include "kernels/campaign/physics.hpp"
#include "kernels/campaign/record.hpp"

namespace tiersim::kernels::bench {

inline Json sample_context(const std::string& stage) {
  return Json::Object{
      {"date", "2026-01-02T03:04:05Z"},
      {"host_name", "host"},
      {"executable", "campaign"},
      {"num_cpus", 16},
      {"library_build_type", "release"},
      {"stage", stage},
      {"class", "measured"},
      {"sizes", "timed"},
      {"seed", 1},
      {"build",
       Json::Object{{"commit", "abc"}, {"id", "123"}, {"compiler", "g++"}, {"nvcc", "13.0"}}},
      {"device", Json::Object{{"kind", "cuda"},
                              {"name", "NVIDIA H200"},
                              {"compute_capability", "9.0"},
                              {"multiprocessors", 132},
                              {"l2_bytes", 52428800},
                              {"memory_bytes", std::int64_t{150'000'000'000}},
                              {"driver", "580"},
                              {"runtime", "13.0"},
                              {"pcie_generation", 5},
                              {"pcie_width", 16},
                              {"sm_mhz_max", 1980.0},
                              {"memory_mhz_max", 3201.0}}},
      {"peaks", to_json(datasheet_peaks("NVIDIA H200", 5, 16, 0))}};
}

// A node of 1 ms that moves 3 GB, 10 us a launch; every round is within 1 ns of it.
inline Timing sample_timing(int process) {
  Timing timing;
  timing.name = "dense.dense_decode.fma.ring2.b128-s8192-h32-kv32";
  timing.info = {"dense", "decode", "split", "bf16", {{"batch", 64}}, false};
  timing.work.read_bytes = 2'000'000'000;
  timing.work.written_bytes = 1'000'000'000;
  timing.work.requested_bytes = 3'000'000'000;
  timing.launches = {{"decode<1>", nullptr, 264, 128, 1024, 4096}};
  timing.occupancies = {{true, 64, 0, 0, 2, 132}};
  timing.process = process;
  timing.processes = 3;
  timing.set_bytes = 3'000'000'000;
  timing.seed = 1;
  timing.points = {{1, {1'010'000, 1'010'001, 1'009'999}}, {2, {2'010'000, 2'010'001, 2'009'999}}};
  timing.agreement = {1e-3, 1e-2, 100};
  return timing;
}

inline Json sample_timings() {
  return Json::Object{
      {"schema", kTimingsSchema},
      {"context", sample_context("timing")},
      {"benchmarks", Json::Array{to_json(sample_timing(0)), to_json(sample_timing(1))}},
      {"refused", Json::Array{}}};
}

inline Json sample_check(const std::string& name) {
  return Json::Object{{"name", name},
                      {"status", "agrees"},
                      {"agreement", to_json(Agreement{1e-3, 1e-2, 100})},
                      {"seconds", 0.5}};
}

inline Json sample_checks() {
  return Json::Object{
      {"schema", kChecksSchema},
      {"context", sample_context("correctness")},
      {"benchmarks", Json::Array{sample_check("dense.dense_decode.fma.ring2.b128-s8192-h32-kv32")}},
      {"refused", Json::Array{}}};
}

}  // namespace tiersim::kernels::bench
