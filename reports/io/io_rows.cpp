#include "reports/io/io_rows.hpp"

#include <algorithm>

#include "reports/footprint/shares_text.hpp"

namespace tiersim {
namespace {

double payload_of_all(const IoRow& row) {
  return static_cast<double>(row.device.total()) *
         static_cast<double>(row.counts.gpus_with(row.device.device));
}
std::optional<double> over_payload(const DeviceBytes& device, std::int64_t bytes) {
  if (bytes == 0) return std::nullopt;
  return ratio_of(static_cast<double>(bytes), static_cast<double>(device.total()));
}

}  // namespace

std::optional<double> IoRow::per_request() const {
  return ratio_of(payload_of_all(*this), static_cast<double>(counts.requests));
}
std::optional<double> IoRow::per_token() const {
  return ratio_of(payload_of_all(*this), counts.new_tokens.value_or(0));
}
std::optional<double> IoRow::moved_ratio() const {
  return over_payload(device, device.moved.read + device.moved.write);
}
std::optional<double> IoRow::wire_ratio() const {
  return over_payload(device, device.wire);
}
std::optional<double> IoRow::relative() const {
  if (!base) return std::nullopt;
  return ratio_of(static_cast<double>(device.total()), static_cast<double>(base->total()));
}

std::vector<IoRow> io_rows(const PointTable& table, const std::optional<Baseline>& baseline) {
  std::vector<IoRow> out;
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    const auto& record = table.points[p].record;
    if (!record) continue;
    std::vector<DeviceBytes> base;
    const bool compared = baseline && baseline->records[p];
    if (compared) base = device_bytes(*baseline->records[p]);
    for (DeviceBytes& device : device_bytes(*record)) {
      IoRow row{.point = p, .device = std::move(device), .counts = counts_of(*record)};
      const auto like = std::ranges::find(base, row.device.device, &DeviceBytes::device);
      if (compared) row.base = like == base.end() ? DeviceBytes{} : *like;
      out.push_back(std::move(row));
    }
  }
  return out;
}

}  // namespace tiersim
