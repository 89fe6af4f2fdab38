#include "tests/support/synthetic_example.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/fit/predictions.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim::testing {
namespace {

constexpr double kMemoryPeak = 4800e9;  // B/s, of an invented data sheet
constexpr double kFlopsPeak = 989e12;   // FLOP/s
constexpr double kFirstLaunch = 2e-6;   // s, before the first kernel of a sequence
constexpr double kScatter = 0.02;       // of a case, the same each time it runs
constexpr double kNoise = 0.005;        // of a repetition

struct Kernel {
  const char* kernel;
  const char* variant;
  KernelParameters truth;
  double flops_a_byte;  // at the least arithmetic; others are multiples
  const char* dtype = "bf16";
  bool baseline = false;
};
// A kernel for each timed family of the simulator; sequences are composed of the first two.
constexpr std::array<Kernel, 7> kKernels{
    {{"dense_decode", "fma", {2.5e-6, 4200e9, 700e12, 3, 0}, 1},
     {"latent_decode", "wgmma", {4e-6, 4000e9, 640e12, 2, 0}, 60},
     {"gqa_decode", "mma_sync", {3e-6, 4100e9, 400e12, 2, 0}, 8},
     {"selected_attention", "fma", {3e-6, 3600e9, 60e12, 2, 0}, 1},
     {"maple_screen", "dp", {3.5e-6, 3300e9, 120e12, 2, 0}, 2, "int8"},
     {"append_latent", "norm", {2e-6, 3900e9, 60e12, 3, 0}, 0.1},
     {"projection", "library", {2.2e-6, 4150e9, 690e12, 2.5, 0}, 32, "bf16", true}}};
constexpr std::array<double, 3> kIntensities{1, 3, 9};

struct Shape {
  std::size_t kernel = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::string name() const {
    return fmt::format("{}.{}.b{}-f{}", kKernels[kernel].kernel, kKernels[kernel].variant, bytes,
                       flops);
  }
};

Shape shape(std::size_t kernel, double bytes, double intensity) {
  const double flops = bytes * kKernels[kernel].flops_a_byte * intensity;
  return {kernel, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(flops)};
}

// About normal: twelve uniform numbers have variance 1. From a separate stream.
double normal(const std::string& stream) {
  Rng rng(1, stream);
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

// Time of the kernel alone: the equation with the case's own scatter.
double true_seconds(const Shape& s) {
  const KernelPoint point{.bytes = static_cast<double>(s.bytes),
                          .flops = static_cast<double>(s.flops)};
  return kernel_time(kKernels[s.kernel].truth, point) * portable_exp(kScatter * normal(s.name()));
}
double timed_seconds(const Shape& s) {
  return true_seconds(s) * portable_exp(kNoise * normal("timed " + s.name()));
}

// Sizes between those of the timings.
std::vector<Shape> composed_shapes() {
  std::vector<Shape> out;
  for (const std::size_t kernel : {0U, 1U})
    for (const double bytes : {2e6, 3e7, 2.5e8})
      for (const double intensity : {2.0, 5.0}) out.push_back(shape(kernel, bytes, intensity));
  return out;
}

struct Sequence {
  std::string name;
  std::vector<Shape> parts;
  std::vector<ScheduledStep> steps;  // with true times
  std::vector<std::size_t> part_of;  // of each step
};

void launch(Sequence& sequence, std::size_t part, std::size_t stream,
            std::vector<std::size_t> after = {}) {
  const Shape& s = sequence.parts[part];
  const double seconds = true_seconds(s);
  sequence.steps.push_back(
      {.seconds = seconds,
       .shares = {static_cast<double>(s.bytes) / (kKernels[s.kernel].truth.bandwidth * seconds),
                  static_cast<double>(s.flops) / (kKernels[s.kernel].truth.peak * seconds)},
       .stream = stream,
       .after = std::move(after)});
  sequence.part_of.push_back(part);
}

// Twelve chains of layers, and the same layers with the second kernel on a second stream.
std::vector<Sequence> sequences() {
  const std::vector<Shape> shapes = composed_shapes();
  std::vector<Sequence> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& other = shapes[(i + shapes.size() / 2) % shapes.size()];
    Sequence chain{fmt::format("chain.{}", i), {shapes[i], other}, {}, {}};
    Sequence streams{fmt::format("two_streams.{}", i), {shapes[i], other}, {}, {}};
    for (std::size_t layer = 0; layer < 4 + i; ++layer) {
      launch(chain, 0, 0);
      launch(chain, 1, 0);
      launch(streams, 0, 0);
      launch(streams, 1, 1, {2 * layer});
    }
    out.push_back(std::move(chain));
    out.push_back(std::move(streams));
  }
  return out;
}

std::string heading(const char* date) {
  return fmt::format(
      "# Made from known parameters by tests/support/synthetic_example.cpp. Nothing was measured.\n"
      "# device: synthetic\n# date: {}\n# class: synthetic\n# build: example\n",
      date);
}

std::string part_json(const Shape& s) {
  return fmt::format(
      "{{\"case\": \"{}\", \"timed_as\": \"\", \"kernel\": \"{}\", \"variant\": \"{}\", "
      "\"dtype\": \"bf16\", \"baseline\": false, \"shape\": {{}}, \"work\": {{\"read_bytes\": {}, "
      "\"written_bytes\": 0, \"link_read_bytes\": 0, \"link_written_bytes\": 0, "
      "\"requested_bytes\": {}, \"flops\": {}, \"issued_flops\": {}}}}}",
      s.name(), kKernels[s.kernel].kernel, kKernels[s.kernel].variant, s.bytes, s.bytes, s.flops,
      s.flops);
}

std::string list_of(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace

std::string example_timings() {
  std::string out = heading("2026-01-01");
  out +=
      "# peak.memory: 4800 GB/s\n# peak.flops.bf16: 989 TFLOP/s\n"
      "# peak.flops.int8: 1979 TFLOP/s\n";
  out +=
      "name,kernel,variant,dtype,baseline,temperature,memory_bytes,flops,time_us,low_us,high_us\n";
  for (std::size_t kernel = 0; kernel < kKernels.size(); ++kernel)
    for (const double bytes : {1e5, 1e6, 4e6, 1e7, 4e7, 1e8, 4e8, 1e9})
      for (const double intensity : kIntensities) {
        const Shape s = shape(kernel, bytes, intensity);
        const double us = 1e6 * timed_seconds(s);
        out += fmt::format("{},{},{},{},{},cold,{},{},{:.5g},{:.5g},{:.5g}\n", s.name(),
                           kKernels[kernel].kernel, kKernels[kernel].variant,
                           kKernels[kernel].dtype, kKernels[kernel].baseline, s.bytes, s.flops, us,
                           us * (1 - 1.96 * kNoise), us * (1 + 1.96 * kNoise));
      }
  return out;
}

std::string example_plan() {
  std::string out =
      "{\"schema\": \"tiersim.composition_plan/v1\", \"build_id\": \"example\", \"sequences\": [\n";
  std::vector<std::string> all;
  for (const Sequence& sequence : sequences()) {
    std::vector<std::string> parts;
    for (const Shape& part : sequence.parts) parts.push_back(part_json(part));
    std::vector<std::string> steps;
    for (std::size_t i = 0; i < sequence.steps.size(); ++i)
      steps.push_back(fmt::format(R"({{"part": {}, "stream": {}, "after": [{}]}})",
                                  sequence.part_of[i], sequence.steps[i].stream,
                                  fmt::join(sequence.steps[i].after, ", ")));
    all.push_back(fmt::format(
        "{{\"name\": \"{}\", \"experiment\": \"example\", \"missing\": \"\",\n \"parts\": {},\n "
        "\"steps\": {}}}",
        sequence.name, list_of(parts), list_of(steps)));
  }
  return out + fmt::format("{}\n]}}\n", fmt::join(all, ",\n"));
}

std::string example_measured() {
  std::string out = heading("2026-01-03") + "# level: sequence\n";
  out += "name,measured_ns,noise,roofline_ns,sum_ns\n";
  for (const Sequence& sequence : sequences()) {
    double floor = 0;
    double sum = 0;
    for (const std::size_t part : sequence.part_of) {
      const Shape& s = sequence.parts[part];
      floor += std::max(static_cast<double>(s.bytes) / kMemoryPeak,
                        static_cast<double>(s.flops) / kFlopsPeak);
      sum += timed_seconds(s);
    }
    const double seconds = (kFirstLaunch + schedule(sequence.steps)) *
                           portable_exp(kNoise * normal("measured " + sequence.name));
    out += fmt::format("{},{:.6g},{:.3g},{:.6g},{:.6g}\n", sequence.name, 1e9 * seconds, kNoise,
                       1e9 * floor, 1e9 * sum);
  }
  return out;
}

}  // namespace tiersim::testing
