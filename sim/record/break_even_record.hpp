#pragma once
// The answer to the `break_even` question of a sweep for one point: the value of a setting at which
// a metric of the point equals that of another point, its reference. A store keeps it beside the
// point, since it depends on two configurations.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

enum class BreakEvenOutcome : std::uint8_t {
  found,         ///< between the ends of the range the better of the two changes
  always,        ///< the point is at least as good as its reference over the whole range
  never,         ///< the reference is better over the whole range
  only,          ///< the reference does not fit its hardware, so there is nothing to equal
  no_reference,  ///< the sweep has no such point, or it failed
  failed,        ///< a run of the search was refused
};
inline constexpr std::array<std::string_view, 6> kBreakEvenOutcomeNames{
    "found", "always", "never", "only", "no_reference", "failed"};

struct BreakEvenRecord {
  BreakEvenOutcome outcome = BreakEvenOutcome::found;
  std::string reference = {};        ///< label of the other point
  std::string why = {};              ///< for `only`, `no_reference` and `failed`: the reason
  double low = 0;                    ///< the range, in base units of the setting
  double high = 0;                   ///< likewise
  bool rises = true;                 ///< the point gains on its reference as the setting grows
  std::optional<double> value = {};  ///< at break-even; none unless found
  /// The middle 95 % of the break-even values of the draws, each with the same numbers for both
  /// points. An end of the range stands for everything beyond it. None without draws.
  std::optional<Interval<double>> ci95 = {};
  std::int64_t draws = 0;
  /// Of `what_if.far_bandwidth`: the channel that is busy for longest among those that it
  /// scales, and its capacity at 1 in B/s.
  std::string channel = {};
  std::optional<double> channel_bytes_per_s = {};
  NumberClass number_class = NumberClass::assumed;  ///< of the compared metric, the weaker of both
  bool plain = true;                                ///< the setting is a number without a unit
  /// For a setting with a unit, these numbers are also kept as texts in that unit: `low` and
  /// `high`, then `value` if it is there, then both ends of `ci95` if it is there.
  std::vector<std::string> shown = {};
};

/// One line of JSON.
std::string to_json(const BreakEvenRecord& answer);
Expected<BreakEvenRecord> read_break_even(const std::string& json);

/// `break_even_factor` of a setting without a unit, and `break_even_bytes_per_s` where the channel
/// is known; nothing unless found.
std::map<std::string, Metric> break_even_metrics(const BreakEvenRecord& answer);

}  // namespace tiersim
