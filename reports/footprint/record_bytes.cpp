#include "reports/footprint/record_bytes.hpp"

#include <algorithm>
#include <cmath>

#include "reports/points/point_values.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {
namespace {

// Bytes of one GPU, exact where GPUs are equal, as in a step.
std::int64_t of_one(std::int64_t bytes, std::int64_t sharers) {
  return sharers == 1 ? bytes : (bytes + sharers / 2) / sharers;
}
BytesByClass of_one(BytesByClass bytes, std::int64_t sharers) {
  for (auto& [name, count] : bytes) count = of_one(count, sharers);
  return bytes;
}

bool is_cache(const std::string& tensor_class) {
  const auto* const known = std::ranges::find(kTensorClassNames, tensor_class);
  if (known == kTensorClassNames.end()) return tensor_class == "KV blocks";
  return is_kv_cache(static_cast<TensorClass>(known - kTensorClassNames.begin()));
}

void add_up(TierBytes& tier) {
  for (const auto& [name, bytes] : tier.by_class) {
    tier.sum += bytes;
    if (is_cache(name)) tier.kv_cache += bytes;
  }
}

std::vector<TierBytes> of_server(const RunRecord& record) {
  std::vector<TierBytes> out;
  const auto tier_of = [&](const std::string& name) -> TierBytes& {
    const auto it = std::ranges::find(out, name, &TierBytes::tier);
    if (it != out.end()) return *it;
    TierBytes& tier = out.emplace_back();
    tier.tier = name;
    return tier;
  };
  for (const KvCapacity::Part& part : record.serving->capacity.parts) {
    TierBytes& tier = tier_of(part.tier);
    if (part.what == "installed")
      tier.capacity = part.bytes;              // already of one GPU
    else if (!part.what.starts_with("left "))  // memory that holds nothing
      tier.by_class[part.what] += part.bytes;
  }
  for (const KvTierUse& use : record.serving->tiers) {
    TierBytes& tier = tier_of(use.name);
    if (!tier.by_class.contains("KV blocks") && use.max_bytes > 0)
      tier.by_class["KV blocks"] = of_one(use.max_bytes, record.gpus);
  }
  for (TierBytes& tier : out) add_up(tier);
  std::erase_if(out, [](const TierBytes& tier) { return tier.sum == 0; });
  return out;
}

// A bus carries both directions, and a write limit beside it is not another wire.
std::int64_t wire_bytes(const RunRecord& record, const std::string& device) {
  if (const auto bus = record.channel_bytes.find(device + ".bus");
      bus != record.channel_bytes.end())
    return bus->second;
  std::int64_t out = 0;
  for (const auto& [channel, bytes] : record.channel_bytes)
    if (channel.starts_with(device + '.')) out += bytes;
  return out;
}

}  // namespace

RecordCounts counts_of(const RunRecord& record) {
  // A store that keeps results without the setup does not hold the numbers of GPUs and sequences.
  if (record.sharers.empty()) return {.requests = 0};
  RecordCounts out{.gpus = record.gpus, .ffn_gpus = record.ffn_gpus.value_or(0)};
  if (record.serving) {
    out.requests = record.serving->counts.requests;
    out.new_tokens = static_cast<double>(record.serving->counts.output_tokens);
    return out;
  }
  out.requests =
      record.batch * record.gpus / std::max<std::int64_t>(1, record.device.gpus_per_replica);
  out.cached_tokens = static_cast<double>(out.requests) * static_cast<double>(record.context);
  const auto rate = metric_value(record, "throughput_tokens_per_s");
  const auto time = metric_value(record, "step_time_s");
  // A whole number, apart from rounding
  if (rate && time) out.new_tokens = std::round(*rate * *time);
  return out;
}

std::int64_t sharers_of(const RunRecord& record, const std::string& device) {
  const auto it = record.sharers.find(device);
  return it == record.sharers.end() ? 1 : std::max<std::int64_t>(1, it->second);
}

std::optional<double> TierBytes::full() const {
  if (!capacity || *capacity == 0) return std::nullopt;
  return static_cast<double>(sum) * static_cast<double>(sharers) / static_cast<double>(*capacity);
}

std::vector<TierBytes> tier_bytes(const RunRecord& record) {
  if (record.serving) return of_server(record);
  std::vector<TierBytes> out;
  for (const auto& [tier, classes] : record.footprint_by_class) {
    if (classes.empty()) continue;
    TierBytes held{.tier = tier, .sharers = sharers_of(record, tier)};
    held.by_class = of_one(classes, held.sharers);
    if (const auto it = record.capacity_bytes.find(tier); it != record.capacity_bytes.end())
      held.capacity = it->second;
    add_up(held);
    out.insert(tier == record.device.tier ? out.begin() : out.end(), std::move(held));
  }
  return out;
}

std::vector<DeviceBytes> device_bytes(const RunRecord& record) {
  std::vector<DeviceBytes> out;
  for (const auto& [device, payload] : record.traffic_bytes) {
    const std::int64_t sharers = sharers_of(record, device);
    DeviceBytes bytes{.device = device,
                      .payload = {of_one(payload.read, sharers), of_one(payload.write, sharers)},
                      .wire = of_one(wire_bytes(record, device), sharers)};
    if (const auto it = record.moved_bytes.find(device); it != record.moved_bytes.end())
      bytes.moved = {of_one(it->second.read, sharers), of_one(it->second.write, sharers)};
    if (const auto it = record.traffic_by_class.find(device); it != record.traffic_by_class.end()) {
      bytes.read = of_one(it->second.read, sharers);
      bytes.write = of_one(it->second.write, sharers);
    }
    for (const auto& [channel, share] : record.channel_utilisation) {
      if (!channel.starts_with(device + '.') || share <= bytes.busy) continue;
      bytes.busy = share;
      bytes.busiest = channel.substr(device.size() + 1);
    }
    if (bytes.total() > 0 || bytes.wire > 0) out.push_back(std::move(bytes));
  }
  return out;
}

std::vector<std::string> in_class_order(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::ranges::stable_sort(names, {}, [](const std::string& name) {
    return std::ranges::find(kTensorClassNames, name) - kTensorClassNames.begin();
  });
  return names;
}

}  // namespace tiersim
