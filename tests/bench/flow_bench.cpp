// Google Benchmark cases of the flow network, per completion. See flow_ratios for the goals.
#include <benchmark/benchmark.h>

#include "tests/bench/flow_loops.hpp"

namespace tiersim::flow_bench {
namespace {

void run(benchmark::State& state, auto& loop) {
  std::int64_t done = loop.run(1);
  done = 0;
  for (auto _ : state) done += loop.run(100);
  state.SetItemsProcessed(done);
}

void bare_hold(benchmark::State& state) {
  BareHold loop;
  run(state, loop);
}

void one_link(benchmark::State& state) {
  ClosedLoop loop(static_cast<std::uint64_t>(state.range(0)), 0);
  run(state, loop);
}

void star(benchmark::State& state) {
  ClosedLoop loop(static_cast<std::uint64_t>(state.range(0)),
                  static_cast<std::uint64_t>(state.range(1)));
  run(state, loop);
}

void star_by_full_filling(benchmark::State& state) {
  FullFillingLoop loop(static_cast<std::uint64_t>(state.range(0)),
                       static_cast<std::uint64_t>(state.range(1)));
  run(state, loop);
}

BENCHMARK(bare_hold);
BENCHMARK(one_link)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(star)->Args({10, 16})->Args({100, 64})->Args({1000, 64})->Args({1000, 256});
BENCHMARK(star_by_full_filling)->Args({10, 16})->Args({100, 64})->Args({1000, 64});

}  // namespace
}  // namespace tiersim::flow_bench

BENCHMARK_MAIN();
