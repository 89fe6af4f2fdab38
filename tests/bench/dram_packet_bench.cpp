// Google Benchmark cases of the DRAM pseudo channels: atoms a second of CPU time, all of the probe
// included. The goal is 5 M atoms/s on one core.
#include <benchmark/benchmark.h>

#include "hwmodels/packet/dram/dram_probe.hpp"

namespace tiersim {
namespace {

void probe(benchmark::State& state, const DramPacketConfig& config, const DramProbe& workload) {
  std::int64_t atoms = 0;
  for (auto _ : state) atoms += run_dram_probe(config, workload).counts.served();
  state.SetItemsProcessed(atoms);
}

constexpr std::int64_t kAtoms = 1'000'000;

void stream(benchmark::State& state) {
  probe(state, {}, {.pattern = DramPattern::sequential, .atoms = kAtoms});
}
void random_runs(benchmark::State& state) {
  probe(state, {}, {.run = Bytes::from_base(state.range(0)), .atoms = kAtoms});
}
void random_runs_with_writes(benchmark::State& state) {
  probe(state, {}, {.run = Bytes::from_base(state.range(0)), .read_share = 0.667, .atoms = kAtoms});
}
void poisson_runs(benchmark::State& state) {
  probe(state, {},
        {.run = Bytes::from_base(state.range(0)),
         .arrivals = DramArrivals::poisson,
         .offered = 0.5,
         .atoms = kAtoms});
}
// The weights of one layer of Llama-2-7B, 405 MB, from a stack of 32 pseudo channels.
void layer_from_a_stack(benchmark::State& state) {
  DramPacketConfig stack;
  stack.address_map.pieces[1].bits = 5;
  probe(state, stack,
        {.pattern = DramPattern::sequential, .outstanding_atoms = 4096, .atoms = 405'000'000 / 32});
}

BENCHMARK(stream);
BENCHMARK(random_runs)->Arg(32)->Arg(64)->Arg(256)->Arg(4096);
BENCHMARK(random_runs_with_writes)->Arg(256);
BENCHMARK(poisson_runs)->Arg(64)->Arg(256);
BENCHMARK(layer_from_a_stack)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace tiersim

BENCHMARK_MAIN();
