#pragma once
// Two records side by side: the differences of their configurations and of their results. Equal
// values are counted and not listed. This is no test, so no difference passes or fails.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// A setting by its dotted path. A number with its class and source is one setting.
struct SettingDifference {
  struct Side {
    /// As JSON, texts without quotes; empty where the side has no such setting
    std::string value = {};
    std::string number_class = {};
    std::string source = {};
    bool operator==(const Side&) const = default;
  };
  std::string path = {};
  Side a = {};
  Side b = {};
};

/// One result. A side that has no such result is absent.
struct ValueDifference {
  struct Side {
    double value = 0;
    std::optional<NumberClass> number_class = {};  ///< for metrics only
    std::optional<Interval<double>> ci95 = {};
  };
  std::string name = {};  ///< "step_time_s"; "hbm, weights"; "pcie, read"
  std::string unit = {};
  std::optional<Side> a = {};
  std::optional<Side> b = {};

  std::optional<double> difference() const;  ///< b - a
  std::optional<double> relative() const;    ///< difference over a; none where a is 0
  /// True where the two 95 % intervals overlap. None where a side has no interval: a short run
  /// gives none, which does not make its mean exact.
  std::optional<bool> overlap() const;
};

struct ValueDifferences {
  std::size_t compared = 0;                  ///< results on either side
  std::vector<ValueDifference> differ = {};  ///< largest relative difference first
};

struct RecordDifference {
  bool configurations_known = false;           ///< both records hold their configuration
  std::size_t settings = 0;                    ///< settings on either side
  std::vector<SettingDifference> config = {};  ///< in the order of the configuration
  std::string bounded_by_a = {};
  std::string bounded_by_b = {};
  ValueDifferences metrics = {};
  ValueDifferences footprint = {};    ///< bytes of one instance by tier and tensor class
  ValueDifferences traffic = {};      ///< payload of one instance by device and direction
  ValueDifferences times = {};        ///< seconds of the step by activity (time_split)
  ValueDifferences utilisation = {};  ///< utilisation by channel
};

RecordDifference difference_of(const RunRecord& a, const RunRecord& b);

}  // namespace tiersim
