#pragma once
// Two records side by side: where their configurations differ, and what that did to the results.
// No test: nothing here is good or bad, and what is equal is counted, not listed.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// A setting by its dotted path. Sourced numbers are one setting with class and source.
struct SettingDifference {
  struct Side {
    std::string value = {};  ///< as JSON, texts without quotes; empty where the side has none
    std::string number_class = {};
    std::string source = {};
    bool operator==(const Side&) const = default;
  };
  std::string path = {};
  Side a = {};
  Side b = {};
};

/// One result. Absent on a side that has no such thing.
struct ValueDifference {
  struct Side {
    double value = 0;
    std::optional<NumberClass> number_class = {};  ///< of metrics
    std::optional<Interval<double>> ci95 = {};
  };
  std::string name = {};  ///< "step_time_s"; "hbm, weights"; "pcie, read"
  std::string unit = {};
  std::optional<Side> a = {};
  std::optional<Side> b = {};

  std::optional<double> difference() const;  ///< b - a
  std::optional<double> relative() const;    ///< difference over a; nothing where that is 0
  /// Whether the intervals have a value in common; nothing where a side has none: that of a mean
  /// of a short run is not known, which does not make the mean exact.
  std::optional<bool> overlap() const;
};

struct ValueDifferences {
  std::size_t compared = 0;                  ///< results that either side has
  std::vector<ValueDifference> differ = {};  ///< largest relative difference first
};

struct RecordDifference {
  bool configurations_known = false;           ///< both records hold theirs
  std::size_t settings = 0;                    ///< that either side has
  std::vector<SettingDifference> config = {};  ///< in the order of the configuration
  std::string bounded_by_a = {};
  std::string bounded_by_b = {};
  ValueDifferences metrics = {};
  ValueDifferences footprint = {};    ///< bytes of one instance by tier and tensor class
  ValueDifferences traffic = {};      ///< payload of one instance by device and direction
  ValueDifferences times = {};        ///< s of the step by what they go to (time_split)
  ValueDifferences utilisation = {};  ///< share of the time by channel
};

RecordDifference difference_of(const RunRecord& a, const RunRecord& b);

}  // namespace tiersim
