#pragma once
// Random systems that shrink. A generator asks for named whole numbers, and the answers make up the
// system. A failing system is made smaller with lower numbers, and the smallest that still fails is
// printed as YAML with the seed.
//
//   std::string faster_link_is_slower(Choices& c) {          // empty: holds
//     const std::int64_t rate = c.pick("rate", 1, 100);
//     ...
//   }
//   expect_always(seed, 200, faster_link_is_slower);
//
// 0, or the lower end of a range, must stand for the simplest.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::testing {

class Choices {
 public:
  struct Choice {
    std::string name;
    std::int64_t low = 0;
    std::int64_t value = 0;
  };

  /// Draws the choices.
  explicit Choices(const Rng& rng) : rng_(rng) {}
  /// Replays the choices; a name that is not among them takes its lower end.
  explicit Choices(const std::vector<Choice>& given) {
    for (const Choice& choice : given) given_[choice.name] = choice.value;
  }

  /// Each name is used once. A replayed value is clamped to the present range.
  std::int64_t pick(const std::string& name, std::int64_t low, std::int64_t high) {
    TS_EXPECTS(low <= high, name, low, high);
    std::int64_t value = low;
    if (rng_)
      value += static_cast<std::int64_t>(rng_->below(static_cast<std::uint64_t>(high - low) + 1));
    else if (const auto found = given_.find(name); found != given_.end())
      value = std::clamp(found->second, low, high);
    made_.push_back({name, low, value});
    return value;
  }
  bool flag(const std::string& name) { return pick(name, 0, 1) == 1; }
  template <class T>
  T one_of(const std::string& name, const std::vector<T>& from) {
    return from[static_cast<std::size_t>(
        pick(name, 0, static_cast<std::int64_t>(from.size()) - 1))];
  }
  /// 2^low to 2^high.
  std::int64_t power(const std::string& name, std::int64_t low, std::int64_t high) {
    return std::int64_t{1} << pick(name, low, high);
  }

  /// A text that a failure prints beside the choices, such as a configuration.
  void note(std::string text) { note_ = std::move(text); }

  const std::vector<Choice>& made() const { return made_; }
  std::string text() const {
    std::string out;
    for (const Choice& c : made_) out += c.name + ": " + std::to_string(c.value) + "\n";
    return out + note_;
  }

 private:
  std::optional<Rng> rng_;
  std::map<std::string, std::int64_t> given_;
  std::vector<Choice> made_;
  std::string note_;
};

/// Returns the broken property; empty where it holds.
using Property = std::function<std::string(Choices&)>;

struct Counterexample {
  std::uint64_t seed = 0;
  int draw = 0;
  std::string broken;
  std::string system;
  std::vector<Choices::Choice> choices;

  /// Number of choices that are not the simplest.
  std::size_t size() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(choices, [](const auto& c) { return c.value != c.low; }));
  }
  std::string text() const {
    return broken + "\nseed " + std::to_string(seed) + ", draw " + std::to_string(draw) +
           ", made as small as it fails:\n" + system;
  }
};

/// Lowers one choice after another while the property stays broken: to the lower end, else
/// half-way, else by one. Runs at most `tries` systems.
inline Counterexample shrink(Counterexample smallest, const Property& property, int tries = 400) {
  const auto still_fails = [&](std::vector<Choices::Choice> candidate) {
    --tries;
    Choices replay(candidate);
    const std::string broken = property(replay);
    if (broken.empty()) return false;
    smallest.broken = broken;
    smallest.system = replay.text();
    smallest.choices = replay.made();
    return true;
  };
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = false;
    for (std::size_t i = 0; i < smallest.choices.size() && tries > 0; ++i) {
      const Choices::Choice was = smallest.choices[i];
      for (const std::int64_t value :
           {was.low, was.low + (was.value - was.low) / 2, was.value - 1}) {
        if (value < was.low || value >= was.value || tries <= 0) continue;
        std::vector<Choices::Choice> candidate = smallest.choices;
        candidate[i].value = value;
        if (!still_fails(std::move(candidate))) continue;
        smaller = true;
        break;
      }
    }
  }
  return smallest;
}

/// The first of `draws` random systems that breaks the property, made small.
inline std::optional<Counterexample> find_counterexample(std::uint64_t seed, int draws,
                                                         const Property& property,
                                                         int tries = 400) {
  for (int draw = 0; draw < draws; ++draw) {
    Choices choices(Rng(seed, "draw " + std::to_string(draw)));
    const std::string broken = property(choices);
    if (broken.empty()) continue;
    return shrink({seed, draw, broken, choices.text(), choices.made()}, property, tries);
  }
  return std::nullopt;
}

/// A test failure, with the smallest system found, where a random one breaks the property.
inline void expect_always(std::uint64_t seed, int draws, const Property& property) {
  if (const auto found = find_counterexample(seed, draws, property)) ADD_FAILURE() << found->text();
}

}  // namespace tiersim::testing
