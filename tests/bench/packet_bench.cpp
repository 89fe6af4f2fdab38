// Google Benchmark cases of the packet models: packets a second of CPU time, and the time of one
// simulated gigabyte (1e9 B) of payload.
#include <benchmark/benchmark.h>

#include "tests/bench/packet_loops.hpp"

namespace tiersim::bench {
namespace {

template <class Work>
void measure(benchmark::State& state, const Work& work) {
  PacketWork sum;
  for (auto _ : state) {
    const PacketWork one = work();
    sum.packets += one.packets;
    sum.bytes += one.bytes;
  }
  state.SetItemsProcessed(sum.packets);
  state.counters["time_per_GB"] =
      benchmark::Counter(static_cast<double>(sum.bytes) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr std::int64_t kTransfers = 4000;
constexpr std::int64_t kLines = 100'000;

void pcie_read(benchmark::State& state) {
  measure(state, [&] { return pcie_transfers(1, state.range(0), kTransfers); });
}
void pcie_write(benchmark::State& state) {
  measure(state, [&] { return pcie_transfers(0, state.range(0), kTransfers); });
}
void cxl_read(benchmark::State& state) {
  measure(state, [&] { return cxl_lines(1, state.range(0), kLines); });
}
void cxl_mix(benchmark::State& state) {
  measure(state, [&] { return cxl_lines(2.0 / 3, state.range(0), kLines); });
}
void nvlink_write(benchmark::State& state) {
  measure(state, [] { return nvlink_messages(NvlinkPattern::point_to_point, 0, 64_MiB); });
}
void nvlink_read(benchmark::State& state) {
  measure(state, [] { return nvlink_messages(NvlinkPattern::point_to_point, 1, 64_MiB); });
}
void nvlink_all_to_all(benchmark::State& state) {
  measure(state, [] { return nvlink_messages(NvlinkPattern::all_to_all, 0, 1_MiB); });
}
void ring_64_MiB(benchmark::State& state) {
  measure(state, [] { return all_reduce(PacketAlgorithm::ring, 64_MiB); });
}
void nvls_64_MiB(benchmark::State& state) {
  measure(state, [] { return all_reduce(PacketAlgorithm::nvls, 64_MiB); });
}
void layer_weights(benchmark::State& state) {
  measure(state, [] { return layer_from_a_stack(kLayerBytes); });
}
void layer_sums(benchmark::State& state) {
  measure(state, [&] { return layer_all_reduces(static_cast<PacketAlgorithm>(state.range(0))); });
  state.SetLabel(std::string(name(static_cast<PacketAlgorithm>(state.range(0)))));
}

BENCHMARK(pcie_read)->Arg(1)->Arg(4)->ArgName("devices")->Unit(benchmark::kMillisecond);
BENCHMARK(pcie_write)->Arg(1)->Arg(4)->ArgName("devices")->Unit(benchmark::kMillisecond);
BENCHMARK(cxl_read)->Arg(1)->Arg(4)->ArgName("hosts")->Unit(benchmark::kMillisecond);
BENCHMARK(cxl_mix)->Arg(1)->Arg(4)->ArgName("hosts")->Unit(benchmark::kMillisecond);
BENCHMARK(nvlink_write)->Unit(benchmark::kMillisecond);
BENCHMARK(nvlink_read)->Unit(benchmark::kMillisecond);
BENCHMARK(nvlink_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_64_MiB)->Unit(benchmark::kMillisecond);
BENCHMARK(nvls_64_MiB)->Unit(benchmark::kMillisecond);
BENCHMARK(layer_weights)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(layer_sums)
    ->Arg(static_cast<int>(PacketAlgorithm::ring))
    ->Arg(static_cast<int>(PacketAlgorithm::one_shot))
    ->Arg(static_cast<int>(PacketAlgorithm::nvls))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tiersim::bench

BENCHMARK_MAIN();
