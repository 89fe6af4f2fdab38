// Each figure of the engine alone, in events, customers, cycles or processes a second. Compare
// engines with engine_ratios, which runs them in turns: a shared machine is too noisy for this
// program.
#include <cstdint>

#include <benchmark/benchmark.h>

#include "tests/bench/engine_loops.hpp"

namespace tiersim::bench {
namespace {

constexpr std::uint64_t kChunk = 100'000;

template <class Loop>
void sized(benchmark::State& state) {
  Loop loop(static_cast<std::size_t>(state.range(0)));
  std::uint64_t done = loop.run(4 * static_cast<std::uint64_t>(state.range(0)));
  done = 0;
  for (auto _ : state) done += loop.run(kChunk);
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
}
template <class Loop>
void plain(benchmark::State& state) {
  Loop loop;
  std::uint64_t done = loop.run(kChunk);
  done = 0;
  for (auto _ : state) done += loop.run(kChunk);
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
}

BENCHMARK(sized<BareHold>)->Name("priority_queue_hold")->Arg(1000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(sized<ProcessHold>)
    ->Name("process_hold")
    ->Arg(2)
    ->Arg(1000)
    ->Arg(100'000)
    ->Arg(1'000'000);
BENCHMARK(sized<HandlerHold>)
    ->Name("handler_hold")
    ->Arg(2)
    ->Arg(1000)
    ->Arg(100'000)
    ->Arg(1'000'000);
BENCHMARK(plain<CustomerQueue>)->Name("mm1_customers");
BENCHMARK(plain<ClosedNetwork>)->Name("closed_network_cycles");
BENCHMARK(plain<SpawnAndEnd>)->Name("spawn_and_end");
BENCHMARK(plain<TakeTurns>)->Name("resume");

}  // namespace
}  // namespace tiersim::bench

BENCHMARK_MAIN();
