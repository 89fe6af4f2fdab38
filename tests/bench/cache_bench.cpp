// Prompts of one block through a cache without a clock: cache_bench [POLICY] [REQUESTS]. Documents
// have popularities of Zipf's law with exponent 0.9; of 4 million the cache holds 1 million.
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>

#include "sim/base/rng.hpp"
#include "workloads/eviction/block_cache.hpp"
#include "workloads/sessions/session_laws.hpp"

int main(int argc, char** argv) {
  using namespace tiersim;
  const std::string policy = argc > 1 ? argv[1] : "lru";
  const std::int64_t requests = argc > 2 ? std::atoll(argv[2]) : 100'000'000;
  if (eviction_library().find(policy) == nullptr || policy == "belady" || requests <= 0) {
    fmt::print(stderr, "cache_bench [POLICY] [REQUESTS], with a policy of a server\n");
    return 2;
  }
  const Zipf documents(4'000'000, 0.9);
  Rng rng(1, "cache_bench");
  BlockCache cache(policy, 1'000'000);
  std::int64_t found = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t k = 0; k < requests; ++k) {
    const Visit visit{.key = static_cast<std::uint64_t>(documents.draw(rng))};
    found += cache.look_up({&visit, 1});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{}: {} requests in {:.1f} s, {:.0f} ns each, {:.1f} % found, {} MB\n", policy,
             requests, taken.count(), 1e9 * taken.count() / static_cast<double>(requests),
             100 * static_cast<double>(found) / static_cast<double>(requests),
             usage.ru_maxrss / 1024);
  return 0;
}
