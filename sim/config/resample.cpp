#include "sim/config/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/config/in_base.hpp"

namespace tiersim {
namespace detail {
namespace {

constexpr double kZ95 = 1.959963984540054;  // normal_quantile(0.975)

double number_of(const ScalarValue& scalar) {
  return std::visit(
      []<class T>(const T* value) -> double {
        constexpr bool kIsNumber = !std::is_same_v<T, bool> && !std::is_same_v<T, std::string>;
        TS_EXPECTS(kIsNumber);
        if constexpr (kIsNumber) return in_base(*value);
        return 0;
      },
      scalar);
}

void set_number(const ScalarValue& scalar, double number) {
  std::visit(
      [number]<class T>(T* target) {
        if constexpr (std::is_same_v<T, double>) {
          *target = number;
        } else if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, std::string>) {
          if (std::abs(number) >= 9.2e18) throw UnitOverflow();
          const auto whole = static_cast<std::int64_t>(number);
          if constexpr (std::is_same_v<T, std::int64_t>)
            *target = whole;
          else if constexpr (std::is_same_v<T, Duration>)
            *target = Duration(whole);
          else
            *target = T::from_base(whole);
        }
      },
      scalar);
}

/// Numbers of one mapping that were estimated together.
struct Together {
  std::vector<std::string> paths;
  std::vector<double> correlations;
};

/// The results of one walk over a configuration.
struct Walk {
  std::vector<UncertainNumber> numbers;
  std::vector<Together> together;
  std::string broken;
};

class Walker final : public Fields {
 public:
  Walker(Walk& walk, std::string prefix) : walk_(walk), prefix_(std::move(prefix)) {}

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void select(std::string_view, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    if (std::ranges::find(alternatives, kind, &Alternative::name) != alternatives.end())
      describe_kind(kind, *this);
  }
  void check(bool ok, std::string_view path, std::string_view message, std::string_view) override {
    if (!ok && walk_.broken.empty()) walk_.broken = fmt::format("{}{}: {}", prefix_, path, message);
  }
  bool only_sourced() const override { return true; }
  void correlated(const std::vector<std::string_view>& keys, std::string_view,
                  const std::vector<double>& correlations) override {
    if (correlations.empty()) return;
    Together& together = walk_.together.emplace_back();
    for (const std::string_view key : keys) together.paths.push_back(prefix_ + std::string(key));
    together.correlations = correlations;
  }

 protected:
  void field(const Field& field, const Value& value) override {
    visit(field.limits, prefix_ + std::string(field.key), value);
  }

 private:
  void visit(const Limits& limits, const std::string& path, const Value& value) {
    const auto of_kind = [&]<class T>(const T& v) {
      if constexpr (std::is_same_v<T, SourcedValue>) {
        if (!v.ci95.has()) return;
        walk_.numbers.push_back({path, v.value, *v.source, limits, number_of(v.value),
                                 number_of(v.ci95.low()), number_of(v.ci95.high())});
      } else if constexpr (std::is_same_v<T, StructValue>) {
        Walker below(walk_, path + '.');
        v.describe(below);
      } else if constexpr (std::is_same_v<T, ListValue>) {
        for (std::size_t i = 0; i < v.size(); ++i)
          visit(limits, fmt::format("{}.{}", path, i), v.at(i));
      } else if constexpr (std::is_same_v<T, MapValue>) {
        v.for_each([&](const std::string& key, const Value& entry) {
          this->visit(limits, fmt::format("{}.{}", path, key), entry);
        });
      } else if constexpr (std::is_same_v<T, OptionalValue>) {
        if (v.has()) visit(limits, path, v.get());
      }
    };
    std::visit(of_kind, value.kind);
  }

  Walk& walk_;
  std::string prefix_;  // of the paths of this mapping's fields
};

Walk walk_over(const StructValue& config) {
  Walk walk;
  Walker walker(walk, "");
  config.describe(walker);
  return walk;
}

bool is_whole(const ScalarValue& scalar) {
  return !std::holds_alternative<double*>(scalar);
}

double in_unit(const Number& number) {
  return std::visit([](auto value) { return in_base(value); }, number);
}

// The path from the system on that the number is of; all of it where it is of none.
std::string_view in_system(std::string_view path) {
  constexpr std::string_view kSystem = "system.";
  if (path.starts_with(kSystem)) return path;
  const std::size_t at = path.find(".system.");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

bool is_same(const UncertainNumber& a, const UncertainNumber& b) {
  return a.value == b.value && a.low == b.low && a.high == b.high &&
         in_system(a.path) == in_system(b.path) && a.source == b.source;
}

double within_limits(double drawn, const UncertainNumber& number) {
  const Limits& limits = number.limits;
  if (limits.low) {
    const double low = in_unit(*limits.low);
    if (drawn < low || (drawn == low && limits.low_open)) return limits.low_open ? number.low : low;
  }
  if (limits.high) return std::min(drawn, in_unit(*limits.high));
  return drawn;
}

}  // namespace

std::vector<UncertainNumber> uncertain_numbers(const StructValue& config, std::size_t draws,
                                               std::uint64_t seed, const CountsNumber& counts) {
  Walk walk = walk_over(config);
  if (counts)
    std::erase_if(walk.numbers,
                  [&](const UncertainNumber& number) { return !counts(number.path); });
  const auto own = [&](const std::string& path) { return shuffled_scores(draws, seed, path); };
  std::map<std::string, Scores> jointly;
  for (const Together& together : walk.together) {
    std::vector<Scores> samples;
    for (const std::string& path : together.paths) samples.push_back(own(path));
    correlate(samples, together.correlations);
    for (std::size_t i = 0; i < samples.size(); ++i)
      jointly[together.paths[i]] = std::move(samples[i]);
  }
  for (std::size_t i = 0; i < walk.numbers.size(); ++i) {
    UncertainNumber& number = walk.numbers[i];
    const auto before = std::span(walk.numbers).first(i);
    const auto same = std::ranges::find_if(
        before, [&](const UncertainNumber& other) { return is_same(other, number); });
    const auto it = jointly.find(number.path);
    number.scores = same != before.end()  ? same->scores
                    : it == jointly.end() ? own(number.path)
                                          : it->second;
  }
  return std::move(walk.numbers);
}

void set_to_draw(const UncertainNumber& number, std::size_t draw) {
  const double z = number.scores[draw] / kZ95;
  const double end = z > 0 ? number.high : number.low;
  const double drawn =
      number.low > 0
          ? number.value * portable_exp(std::clamp(std::abs(z) * portable_log(end / number.value),
                                                   -700.0, 700.0))
          : number.value + std::abs(z) * (end - number.value);
  set_number(number.target,
             within_limits(is_whole(number.target) ? std::round(drawn) : drawn, number));
}

std::string broken_check(const StructValue& config) {
  return walk_over(config).broken;
}

}  // namespace detail

std::vector<std::string> Resampler::paths() const {
  std::vector<std::string> paths;
  for (const detail::UncertainNumber& number : numbers_) paths.push_back(number.path);
  return paths;
}

void Resampler::draw_unchecked(std::size_t i) {
  for (const detail::UncertainNumber& number : numbers_) detail::set_to_draw(number, i);
}

std::string Resampler::draw(std::size_t i) {
  draw_unchecked(i);
  return detail::broken_check(config_);
}

Interval<double> central_95(std::vector<double> results) {
  TS_EXPECTS(results.size() >= 2, results.size());
  std::ranges::sort(results);
  const auto quantile = [&](double p) {
    const double at = p * static_cast<double>(results.size()) - 0.5;  // from 0
    const double last = static_cast<double>(results.size() - 1);
    const double inside = std::clamp(at, 0.0, last);
    const auto below = static_cast<std::size_t>(inside);
    const std::size_t above = std::min(below + 1, results.size() - 1);
    const double part = inside - static_cast<double>(below);
    return results[below] + part * (results[above] - results[below]);
  };
  return {quantile(0.025), quantile(0.975)};
}

}  // namespace tiersim
