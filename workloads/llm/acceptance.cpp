#include "workloads/llm/acceptance.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "workloads/llm/draft_tree.hpp"

namespace tiersim {
namespace {

double length_at(double rate, std::int64_t tokens) {
  double sum = 1;
  double power = 1;
  for (std::int64_t i = 0; i < tokens; ++i) {
    power *= rate;
    sum += power;
  }
  return sum;
}

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Uniform in (0, 1).
double uniform(std::uint64_t seed, std::int64_t request, std::int64_t generated) {
  constexpr std::uint64_t kOfAcceptance = 3;
  const std::uint64_t of_request =
      scramble(scramble(scramble(seed) ^ kOfAcceptance) ^ static_cast<std::uint64_t>(request));
  const std::uint64_t bits = scramble(of_request ^ static_cast<std::uint64_t>(generated));
  return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

}  // namespace

void describe(Fields& f, RankAcceptance& c) {
  f.doc("Acceptance of a node's children at one depth of a tree of drafts.");
  f.required("ranks", c.ranks,
             "Probability that each child is accepted after its parent was, the likeliest first.",
             in_range(0.0, 1.0));
  f.check(!c.ranks.empty(), "ranks", "has no child", "a probability for each child");
  double sum = 0;
  for (const Sourced<double>& rank : c.ranks) sum += rank.value;
  constexpr double kRounding = 1e-9;
  f.check(sum <= 1 + kRounding, "ranks",
          fmt::format("add up to {:.6g}, and only one child of a node can be accepted", sum),
          "at most 1 together");
  f.check(std::ranges::is_sorted(c.ranks, std::ranges::greater{}, &Sourced<double>::value), "ranks",
          "rise, and the first child is the likeliest", "falling or equal probabilities");
}

void describe(Fields& f, AcceptanceConfig& c) {
  f.doc("How many of the drafted tokens are accepted: exactly one of the four.");
  f.optional("rate", c.rate, "Probability that a draft is accepted after those before it were.",
             in_range(0.0, 1.0));
  f.optional("by_position", c.by_position,
             "The same for each draft in order; the last one stands for all later drafts.",
             in_range(0.0, 1.0));
  f.optional("mean_length", c.mean_length,
             "Mean tokens of a step with `tokens` drafts, with the one that the verification gives "
             "(mean acceptance length).",
             Limits{.low = 1.0, .high = 65.0, .low_open = true});
  f.optional(
      "by_depth", c.by_depth,
      "The probabilities of a node's children, for each depth of a tree; the last one stands "
      "for all later depths.");
  const int stated = (c.rate ? 1 : 0) + (c.by_position.empty() ? 0 : 1) + (c.mean_length ? 1 : 0) +
                     (c.by_depth.empty() ? 0 : 1);
  f.check(stated == 1,
          c.rate          ? "rate"
          : c.mean_length ? "mean_length"
                          : "by_position",
          stated == 0
              ? "is missing, and so are rate, mean_length and by_depth"
              : "does not stand alone: rate, by_position, mean_length and by_depth exclude each "
                "other",
          "give one of the four; `key: ~` removes that of a base");
}

double rate_of_length(double length, std::int64_t tokens) {
  TS_EXPECTS(length > 1 && length <= static_cast<double>(tokens + 1), length, tokens);
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double mid = low + (high - low) / 2;
    if (mid <= low || mid >= high) break;
    (length_at(mid, tokens) < length ? low : high) = mid;
  }
  return high;
}

AcceptanceLaw::AcceptanceLaw(const AcceptanceConfig& config, std::int64_t tokens, std::int64_t most,
                             const std::vector<std::int64_t>& widths) {
  const double of_length =
      config.mean_length && tokens > 0 ? rate_of_length(config.mean_length->value, tokens) : 0;
  at_least_.push_back({1});
  for (const DraftNode& node : likeliest_nodes(config, of_length, widths, most)) {
    std::vector<double> sums = at_least_.back();
    const auto depth = static_cast<std::size_t>(node.depth);
    if (sums.size() <= depth) sums.push_back(0);
    sums[depth] += node.accepted;
    at_least_.push_back(std::move(sums));
  }
}

double AcceptanceLaw::mean_tokens(std::int64_t drafts) const {
  double sum = 0;
  for (const double probability : at_least(drafts)) sum += probability;
  return sum;
}

std::int64_t AcceptanceLaw::accepted(std::uint64_t seed, std::int64_t request,
                                     std::int64_t generated, std::int64_t drafts) const {
  const double u = uniform(seed, request, generated);
  const std::vector<double>& of = at_least(drafts);
  std::int64_t out = 0;
  while (out + 1 < std::ssize(of) && u < of[static_cast<std::size_t>(out + 1)]) ++out;
  return out;
}

}  // namespace tiersim
