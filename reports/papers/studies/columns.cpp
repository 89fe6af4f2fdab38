#include "reports/papers/studies/columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 8> kSplitParts{
    "weights", "kv", "compute", "screening", "link_wait", "latency", "collective", "host"};
// The name in `limit` of each part above.
constexpr std::array<std::string_view, 8> kLimits{"capacity", "HBM",    "FLOP",       "screening",
                                                  "link",     "launch", "all-reduce", "host"};

std::optional<double> metric(const RunRecord& record, std::string_view name) {
  const auto it = record.metrics.find(std::string(name));
  if (it == record.metrics.end()) return std::nullopt;
  return it->second.value;
}

std::optional<double> part(const RunRecord& record, std::string_view name) {
  const auto it = std::ranges::find(record.time_split, name, &TimeShare::name);
  if (it == record.time_split.end()) return std::nullopt;
  return it->seconds;
}

Cell cell(std::optional<double> value) {
  return value ? Cell(*value) : Cell();
}
Cell ratio(std::optional<double> a, std::optional<double> b) {
  return a && b && *b != 0 ? Cell(*a / *b) : Cell();
}

// The channels on the path of a read from a tier, from the configuration in the record.
std::vector<std::string> way_of(const RunRecord& record, const std::string& role) {
  TS_EXPECTS(!record.config.empty(), record.name);
  const auto config = nlohmann::json::parse(record.config);
  const std::string tier = config.at("placement").at(role);
  std::vector<std::string> devices{tier};
  const auto& described = config.at("system").at("tiers").at(tier);
  if (!described.contains("path") || described.at("path").empty()) return devices;
  for (const auto& link : described.at("path")) devices.push_back(link);
  devices.emplace_back("sm");
  devices.emplace_back("copy_engine");
  return devices;
}

// Least capacity of the channels that carry reads of the tier; none where nothing moved.
double peak_bandwidth(const RunRecord& record, const std::string& role) {
  const double step = metric(record, "step_time_s").value_or(0);
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& device : way_of(record, role))
    for (const auto& [channel, bytes] : record.channel_bytes) {
      const bool outward = channel.ends_with(".from_gpu") || channel.ends_with(".write");
      if (!channel.starts_with(device + '.') || outward || bytes == 0) continue;
      const double busy = record.channel_utilisation.at(channel) * step;
      if (busy > 0) least = std::min(least, static_cast<double>(bytes) / busy);
    }
  return least;
}

struct Roof {
  std::string tier;
  double bandwidth = 0;
  double intensity = 0;  // FLOP for each byte through it
};

// The roof of screening: the tier whose reads take longest at peak bandwidth.
std::optional<Roof> screening_roof(const RunRecord& record) {
  const auto flops = metric(record, "screening_flops");
  const auto near = metric(record, "screening_near_bytes");
  const auto far = metric(record, "screening_far_bytes");
  if (!flops || !near || !far || *flops == 0 || *near + *far == 0) return std::nullopt;
  Roof best;
  double longest = 0;
  for (const auto& [role, bytes] : {std::pair{"near", *near}, std::pair{"far", *far}}) {
    if (bytes == 0) continue;
    const double bandwidth = peak_bandwidth(record, role);
    const double seconds = bytes / bandwidth;
    if (!std::isfinite(seconds) || seconds <= longest) continue;
    longest = seconds;
    best = {way_of(record, role).front(), bandwidth, *flops / bytes};
  }
  if (longest == 0) return std::nullopt;
  return best;
}

Cell screening_intensity(const RunRecord& record) {
  const auto roof = screening_roof(record);
  return roof ? Cell(roof->intensity) : Cell();
}
Cell screening_roof_name(const RunRecord& record) {
  const auto roof = screening_roof(record);
  return roof ? Cell(roof->tier) : Cell();
}
Cell screening_roof_bandwidth(const RunRecord& record) {
  const auto roof = screening_roof(record);
  return roof ? Cell(roof->bandwidth) : Cell();
}
Cell screening_attainable(const RunRecord& record) {
  const auto roof = screening_roof(record);
  return roof ? Cell(roof->intensity * roof->bandwidth) : Cell();
}
Cell screening_rate(const RunRecord& record) {
  const auto flops = metric(record, "screening_flops");
  if (flops == 0.0) return {};
  return ratio(flops, metric(record, "screening_time_s"));
}
Cell limit(const RunRecord& record) {
  const std::string text = limit_of(record);
  return text.empty() ? Cell() : Cell(text);
}

Cell bounded_by(const RunRecord& record) {
  return record.bounded_by.empty() ? Cell() : Cell(record.bounded_by);
}
Cell bound_share(const RunRecord& record) {
  return ratio(metric(record, "bound_s"), metric(record, "step_time_s"));
}

struct Derived {
  std::string_view name;
  std::string_view title;
  std::string_view unit;
  Cell (*of)(const RunRecord& record);
  bool reads_configuration = false;
};
constexpr std::array kDerived{
    Derived{"bounded_by", "bounded by", "", bounded_by},
    Derived{"limit", "limit", "", limit},
    Derived{"bound_share", "bound/step", "ratio", bound_share},
    Derived{"screening_intensity", "intensity", "FLOP/B", screening_intensity, true},
    Derived{"screening_roof", "roof", "", screening_roof_name, true},
    Derived{"screening_roof_bandwidth", "roof at", "B/s", screening_roof_bandwidth, true},
    Derived{"screening_attainable", "attainable", "FLOP/s", screening_attainable, true},
    Derived{"screening_rate", "simulated", "FLOP/s", screening_rate},
};

struct ShortTitle {
  std::string_view name;
  std::string_view title;
};
constexpr std::array kShortTitles{
    ShortTitle{"step_time_s", "step"},
    ShortTitle{"tpot_s", "tpot"},
    ShortTitle{"ttft_s", "ttft"},
    ShortTitle{"bound_s", "bound"},
    ShortTitle{"throughput_tokens_per_s", "tokens/s"},
    ShortTitle{"kv_footprint_bytes", "KV footprint"},
    ShortTitle{"far_load_bytes", "far loads"},
    ShortTitle{"far_load_bytes_per_layer", "bytes/layer"},
    ShortTitle{"far_round_trips_per_layer", "crossings/layer"},
    ShortTitle{"screening_near_bytes", "near bytes"},
    ShortTitle{"screening_far_bytes", "far bytes"},
    ShortTitle{"screening_flops", "FLOP"},
    ShortTitle{"screening_time_s", "time"},
    ShortTitle{"energy_j_per_token", "energy/token"},
    ShortTitle{"cost_usd_per_mtoken", "cost/Mtoken"},
    ShortTitle{"max_batch", "largest batch"},
    ShortTitle{"kv_capacity_tokens", "KV tokens"},
};

std::optional<std::string_view> part_name(std::string_view column, std::string_view prefix) {
  if (!column.starts_with(prefix)) return std::nullopt;
  const std::string_view name = column.substr(prefix.size());
  if (std::ranges::find(kSplitParts, name) == kSplitParts.end()) return std::nullopt;
  return name;
}

// Names are aligned to the left and numbers to the right, also counts, which have no unit.
Column study_column(const std::string& name, std::string title, const std::string& unit) {
  const bool text = unit.empty() && name != "max_batch";
  return {.title = std::move(title),
          .align = text ? Align::left : Align::right,
          .key = name,
          .unit = unit};
}

}  // namespace

bool is_study_column(std::string_view name, std::span<const std::string_view> metrics) {
  if (name == "split" || name == "shares") return true;
  if (part_name(name, "split.") || part_name(name, "share.")) return true;
  return std::ranges::find(kDerived, name, &Derived::name) != kDerived.end() ||
         std::ranges::find(metrics, name) != metrics.end();
}

bool reads_configuration(std::string_view name) {
  const auto* it = std::ranges::find(kDerived, name, &Derived::name);
  return it != kDerived.end() && it->reads_configuration;
}

std::vector<std::string> expanded(const std::vector<std::string>& columns) {
  std::vector<std::string> out;
  for (const std::string& column : columns) {
    if (column != "split" && column != "shares") {
      out.push_back(column);
      continue;
    }
    for (const std::string_view name : kSplitParts)
      out.push_back((column == "split" ? "split." : "share.") + std::string(name));
  }
  return out;
}

Column column_of(const std::string& name, const RunRecord* record) {
  for (const auto& [prefix, unit] : {std::pair{"split.", "s"}, std::pair{"share.", "ratio"}})
    if (const auto of = part_name(name, prefix)) {
      std::string title(*of);
      std::ranges::replace(title, '_', ' ');
      return study_column(name, title, unit);
    }
  if (const auto* it = std::ranges::find(kDerived, name, &Derived::name); it != kDerived.end())
    return study_column(name, std::string(it->title), std::string(it->unit));
  std::string title = name;
  std::ranges::replace(title, '_', ' ');
  if (const auto* it = std::ranges::find(kShortTitles, name, &ShortTitle::name);
      it != kShortTitles.end())
    title = it->title;
  if (record == nullptr || !record->metrics.contains(name)) return study_column(name, title, "");
  return study_column(name, title, record->metrics.at(name).unit);
}

Cell cell_of(const std::string& name, const RunRecord& record) {
  if (const auto of = part_name(name, "split.")) return cell(part(record, *of));
  if (const auto of = part_name(name, "share."))
    return ratio(part(record, *of), metric(record, "step_time_s"));
  if (const auto* it = std::ranges::find(kDerived, name, &Derived::name); it != kDerived.end())
    return it->of(record);
  return cell(metric(record, name));
}

Cell cell_of(const Column& column, const RunRecord& record) {
  Cell out = cell_of(column.key, record);
  if (const auto value = out.number()) return Cell::quantity(*value, column.unit);
  return out.value().index() == 0 ? Cell({}, "-") : out;
}

std::string limit_of(const RunRecord& record) {
  double most = 0;
  std::string_view name;
  for (std::size_t i = 0; i < kSplitParts.size(); ++i) {
    const double seconds = part(record, kSplitParts[i]).value_or(0);
    if (seconds <= most) continue;
    most = seconds;
    name = kLimits[i];
  }
  // A prefill reads weights once for a whole prompt, so a larger batch would not share them
  // further.
  if (name == "capacity" && record.metrics.contains("ttft_s")) name = "HBM";
  return std::string(name);
}

}  // namespace tiersim
