#pragma once
// The queue against a reference: std::priority_queue of (time, sequence number). Both get the same
// events, pop by pop, while the number of pending events rises and falls between one and a bound.
#include <array>
#include <cstdint>
#include <queue>
#include <string_view>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/event_queue.hpp"

namespace tiersim {

enum class Law { exponential, bimodal, ties, heavy_tail, near_constant, all_equal };
inline constexpr std::array kLaws{Law::exponential, Law::bimodal,       Law::ties,
                                  Law::heavy_tail,  Law::near_constant, Law::all_equal};
inline constexpr std::array<std::string_view, 6> kLawNames{
    "Exponential", "Bimodal", "Ties", "HeavyTail", "NearConstant", "AllEqual"};

/// An increment in picoseconds.
inline std::uint64_t draw(Law law, Rng& rng) {
  switch (law) {
    case Law::exponential:
      return static_cast<std::uint64_t>(rng.exponential(1e6));
    case Law::bimodal:
      return rng.below(10) == 0 ? 100'000'000'000 + rng.below(1000) : 1'000'000;
    case Law::ties:
      return 1000 * rng.below(8);
    case Law::heavy_tail: {  // Pareto of index 1/2, cut at 2^40
      const double u = rng.uniform();
      return static_cast<std::uint64_t>(1.0 / (u * u + 0x1p-40));
    }
    case Law::near_constant:
      return 1'000'000'000 + rng.below(16);
    case Law::all_equal:
      break;
  }
  return 1'000'000;
}

struct Numbered {
  std::uint64_t time;
  std::uint64_t number;
  friend bool operator<(const Numbered& a, const Numbered& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

/// Stops at the first difference.
inline void expect_same_order(Law law, std::uint64_t seed, std::uint64_t pops) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "event order");
  EventQueue queue;
  std::priority_queue<Numbered> reference;
  std::uint64_t now = 0;
  std::uint64_t number = 0;
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a over the numbers in their order
  std::uint64_t target = 1;
  const auto push = [&] {
    const std::uint64_t time = now + draw(law, rng);
    // The queue holds the number in place of an address; it only prefetches it.
    const Target payload(Target::Kind::process, reinterpret_cast<const void*>(8 * number));
    queue.push({time, payload}, now);
    reference.push({time, number++});
  };
  for (std::uint64_t popped = 0; popped < pops; ++popped) {
    if (popped % 65536 == 0) target = std::uint64_t{1} << rng.below(18);  // up to 131072 pending
    while (reference.size() < target && rng.below(4) != 0) push();
    if (reference.empty()) push();
    if (rng.below(1024) == 0) {  // peeked at, and then given an earlier event
      queue.has_next();
      for (std::uint64_t i = rng.below(200); i > 0; --i) push();
    }
    ASSERT_TRUE(queue.has_next());
    const Event event = queue.front();
    queue.pop();
    ASSERT_EQ(event.time, reference.top().time) << "pop " << popped;
    const auto got = reinterpret_cast<std::uintptr_t>(event.target.object()) / 8;
    ASSERT_EQ(got, reference.top().number) << "pop " << popped;
    reference.pop();
    now = event.time;
    hash = (hash ^ got) * 1099511628211ULL;
    if (reference.size() < target) push();
  }
  ::testing::Test::RecordProperty("order_hash", std::to_string(hash));
}

}  // namespace tiersim
