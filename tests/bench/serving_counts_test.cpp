// The cost of serving in counts that are the same on every machine: the benchmark of 1000 requests
// of 2048 tokens in and 256 out, Llama-2-7B on one H100, continuous batching. Its time is not
// gated.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/allocations.hpp"
#include "tests/support/served.hpp"

namespace tiersim::serving_counts_test {
namespace {

struct Served {
  std::int64_t iterations = 0;
  std::int64_t output_tokens = 0;
  std::uint64_t allocations = 0;
};

Served serve_bench(const std::vector<std::string>& set,
                   const std::string& path = "serving/llama2_7b_h100.yaml") {
  const ServingConfig config = testing::serving(path, set);
  const std::uint64_t before = testing::allocations();
  const auto record = serve(config);
  Served out{.allocations = testing::allocations() - before};
  if (!record) {
    ADD_FAILURE() << record.error();
    return out;
  }
  out.iterations = record->serving->counts.iterations;
  out.output_tokens = record->serving->counts.output_tokens;
  return out;
}

// 47 sequences decode at a time, limited by the capacity of the cache. 256,000 tokens are some
// 5,400 iterations, each of which is planned anew and allocates its lists.
TEST(ServingCounts, AnIterationAllocatesAFewLists) {
  const Served whole = serve_bench({});
  EXPECT_EQ(whole.output_tokens, 256'000);
  EXPECT_LT(whole.iterations, 256'000 / 40);
  EXPECT_LT(whole.allocations, 40 * static_cast<std::uint64_t>(whole.iterations));
}

// Tokens are not stored: answers of eight times the length, one sequence at a time, cost eight
// times the iterations and nothing else.
TEST(ServingCounts, WhatIsAllocatedFollowsIterationsNotTokens) {
  const std::vector<std::string> few{"workload.requests=64", "workload.input.tokens=16",
                                     "server.scheduler.max_sequences=64"};
  std::vector<std::string> longer = few;
  longer.emplace_back("workload.output.tokens=2048");
  const Served one = serve_bench(few);
  const Served eight = serve_bench(longer);
  EXPECT_EQ(eight.output_tokens, 8 * one.output_tokens);
  const auto each = [](const Served& r) {
    return static_cast<double>(r.allocations) / static_cast<double>(r.iterations);
  };
  EXPECT_LT(each(eight), each(one));
}

// A billion tokens are 4 million requests on 64 replicas; this is one in 500 of them. Most
// iterations find their parts evaluated. What is left is a list of sequences, the frames of
// processes that have their pools, and what each request and each new size needs.
TEST(ServingCounts, ReplicasApartAllocateLittleForAnIteration) {
  const Served served =
      serve_bench({"system.gpus.count=64", "server.routing=round_robin", "workload.requests=8000",
                   "workload.arrivals.requests_per_s=768", "workload.output.tokens=190"},
                  "serving/llama3_8b_h100_poisson.yaml");
  EXPECT_GT(served.output_tokens, 8000 * 230);
  EXPECT_LT(served.iterations, 8000 * 14);
  EXPECT_LT(served.allocations, 17 * static_cast<std::uint64_t>(served.iterations));
}

}  // namespace
}  // namespace tiersim::serving_counts_test
