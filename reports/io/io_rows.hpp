#pragma once
// The devices of every point with the divisors and the baseline of their bytes.
#include <cstddef>
#include <optional>
#include <vector>

#include "reports/footprint/point_labels.hpp"
#include "reports/footprint/record_bytes.hpp"

namespace tiersim {

struct IoRow {
  std::size_t point = 0;
  DeviceBytes device = {};
  RecordCounts counts = {};
  std::optional<DeviceBytes> base = {};  ///< no bytes where the baseline has none there

  /// Payload of all GPUs over their requests, and over their new tokens.
  std::optional<double> per_request() const;
  std::optional<double> per_token() const;
  /// Bytes moved over payload; none where the record does not hold them.
  std::optional<double> moved_ratio() const;
  std::optional<double> wire_ratio() const;
  std::optional<double> relative() const;  ///< payload over the baseline's
};

/// Sorted by point, then by device.
std::vector<IoRow> io_rows(const PointTable& table, const std::optional<Baseline>& baseline);

}  // namespace tiersim
