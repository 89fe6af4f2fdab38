#include "sim/record/run_record.hpp"

#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sim/config/json_layout.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// JSON admits 0x7f in text; YAML, which reads the text again, does not.
std::string pretty(const Json& json) {
  std::string line;
  for (const char c : json.dump()) {
    if (c == '\x7f')
      line += "\\u007f";
    else
      line += c;
  }
  return pretty_json(line);
}

// Bytes, FLOPs and sequences are counts: 128, not 128.0. Exact over the range of exact doubles.
Json number(double value) {
  constexpr double kExact = 9'007'199'254'740'992;  // 2^53
  if (std::trunc(value) == value && std::abs(value) < kExact)
    return static_cast<std::int64_t>(value);
  return value;
}

Json to_object(const Metric& metric) {
  Json out{
      {"value", number(metric.value)}, {"unit", metric.unit}, {"class", name(metric.number_class)}};
  if (metric.ci95) out["ci95"] = {number(metric.ci95->low), number(metric.ci95->high)};
  return out;
}
Json to_object(double value) {
  return value;
}
Json to_object(const ReadWrite& bytes) {
  return {{"read", bytes.read}, {"write", bytes.write}};
}
Json to_object(const BytesByClass& bytes) {
  Json out = Json::object();
  for (const auto& [tensor_class, count] : bytes) out[tensor_class] = count;
  return out;
}
Json to_object(const std::pair<BytesByClass, BytesByClass>& bytes) {
  return {{"read", to_object(bytes.first)}, {"write", to_object(bytes.second)}};
}

template <class Value>
Json to_object(const std::map<std::string, Value>& map) {
  Json out = Json::object();
  for (const auto& [key, value] : map) out[key] = to_object(value);
  return out;
}

Json to_object(const std::vector<TimeShare>& shares) {
  Json out = Json::array();
  for (const TimeShare& share : shares)
    out.push_back({{"name", share.name}, {"seconds", share.seconds}});
  return out;
}

Json to_object(const std::vector<KernelTimeRecord>& kernels) {
  Json out = Json::array();
  for (const KernelTimeRecord& kernel : kernels) {
    Json& entry = out.emplace_back(Json{{"family", kernel.family},
                                        {"seconds", kernel.seconds},
                                        {"class", name(kernel.number_class)},
                                        {"basis", kernel.basis},
                                        {"source", kernel.source}});
    if (kernel.ci95) entry["ci95"] = {kernel.ci95->low, kernel.ci95->high};
    if (kernel.beyond_timed > 0) entry["beyond_timed_s"] = kernel.beyond_timed;
  }
  return out;
}

Json to_object(const DeviceRecord& device) {
  Json weights = Json::array();
  for (const WeightRecord& part : device.weights)
    weights.push_back({{"name", part.part},
                       {"weights", part.weights},
                       {"model_weights", part.model_weights},
                       {"bytes", part.bytes}});
  return {{"gpus_per_replica", device.gpus_per_replica},
          {"tensor", device.tensor},
          {"latent_slices", device.latent_slices},
          {"pipeline", device.pipeline},
          {"attention", device.attention},
          {"tier", device.tier},
          {"layers", device.layers},
          {"sequences", device.sequences},
          {"query_heads", device.query_heads},
          {"kv_elements_per_token_layer", device.kv_elements_per_token_layer},
          {"weights", std::move(weights)}};
}

Json to_object(const KvCapacity& capacity) {
  Json parts = Json::array();
  for (const KvCapacity::Part& part : capacity.parts)
    parts.push_back({{"tier", part.tier},
                     {"what", part.what},
                     {"bytes", part.bytes},
                     {"class", name(part.number_class)}});
  return {{"parts", std::move(parts)},
          {"block_positions", capacity.block_positions},
          {"block_bytes", capacity.block_bytes},
          {"blocks", capacity.blocks},
          {"positions", capacity.positions},
          {"max_sequences_full_length", capacity.max_sequences_full_length},
          {"limited_by", capacity.limited_by}};
}

Json to_object(const ServingCounts& counts) {
  return {{"requests", counts.requests},
          {"counted", counts.counted},
          {"input_tokens", counts.input_tokens},
          {"cached_tokens", counts.cached_tokens},
          {"prefilled_tokens", counts.prefilled_tokens},
          {"output_tokens", counts.output_tokens},
          {"iterations", counts.iterations},
          {"preemptions", counts.preemptions}};
}

Json to_object(const std::vector<ServingTimeline::Series>& series) {
  Json out = Json::object();
  for (const auto& [name, values] : series) out[name] = values;
  return out;
}

Json to_object(const ServingTimeline& timeline) {
  return {{"bin_s", timeline.bin_s},
          {"last_bin_s", timeline.last_bin_s},
          {"queue_depth", timeline.queue_depth},
          {"running", timeline.running},
          {"kv_use", timeline.kv_use},
          {"input_tokens_per_s", timeline.input_tokens_per_s},
          {"output_tokens_per_s", timeline.output_tokens_per_s},
          {"held_bytes", to_object(timeline.held_bytes)},
          {"utilisation", to_object(timeline.utilisation)}};
}

Json to_object(const ServingRecord& serving) {
  Json moves = Json::array();
  for (const KvMove& move : serving.moves)
    moves.push_back({{"name", move.name}, {"bytes", move.bytes}, {"count", move.count}});
  Json tiers = Json::array();
  for (const KvTierUse& tier : serving.tiers)
    tiers.push_back({{"name", tier.name},
                     {"capacity_bytes", tier.capacity_bytes},
                     {"mean_bytes", number(tier.mean_bytes)},
                     {"max_bytes", tier.max_bytes}});
  return {{"replicas", serving.replicas},
          {"prefill_replicas", serving.prefill_replicas},
          {"window_s", {serving.window_begin_s, serving.window_end_s}},
          {"counts", to_object(serving.counts)},
          {"kv_capacity", to_object(serving.capacity)},
          {"kv_moves", std::move(moves)},
          {"kv_tiers", std::move(tiers)},
          {"timeline", to_object(serving.timeline)}};
}

Json provenance(const RunRecord& record) {
  Json numbers = Json::array();
  for (const NumberRecord& number : record.numbers) {
    Json& entry = numbers.emplace_back(Json{{"path", number.path},
                                            {"value", number.value},
                                            {"class", name(number.number_class)},
                                            {"source", number.source},
                                            {"in_times", number.in_times}});
    if (number.ci95) entry["ci95"] = {number.ci95->low, number.ci95->high};
  }
  Json out{{"tiersim_version", record.tiersim_version},
           {"run_id", record.run_id},
           {"numbers", std::move(numbers)}};
  if (record.draws)
    out["intervals"] = {{"draws", record.draws->draws},
                        {"seed", record.draws->seed},
                        {"numbers", record.draws->numbers}};
  return out;
}

Json results(const RunRecord& record) {
  Json out{{"metrics", to_object(record.metrics)},
           {"device", to_object(record.device)},
           {"capacity_bytes", to_object(record.capacity_bytes)},
           {"footprint_bytes", to_object(record.footprint_bytes)},
           {"footprint_by_class_bytes", to_object(record.footprint_by_class)},
           {"traffic_bytes", to_object(record.traffic_bytes)},
           {"traffic_by_class_bytes", to_object(record.traffic_by_class)},
           {"moved_bytes", to_object(record.moved_bytes)},
           {"channel_bytes", to_object(record.channel_bytes)},
           {"channel_utilisation", to_object(record.channel_utilisation)},
           {"phases", to_object(record.phases)},
           {"time_split", to_object(record.time_split)},
           {"kernel_times", to_object(record.kernel_times)},
           {"bound_shares", to_object(record.bound_shares)},
           {"bounded_by", record.bounded_by},
           {"costs_unstated", record.costs_unstated}};
  if (record.serving) out["serving"] = to_object(*record.serving);
  return out;
}

std::string text_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "unknown";
}

// A list of {name: ..., ...} or {family: ..., ...} as an object with these names as keys, so that
// an entry is compared with the one of the same name.
Json by_name(const Json& list) {
  Json out = Json::object();
  for (std::size_t i = 0; i < list.size(); ++i) {
    Json entry = list[i];
    std::string key = std::to_string(i);
    for (const char* naming : {"name", "family"}) {
      const auto it = entry.is_object() ? entry.find(naming) : entry.end();
      if (it == entry.end() || !it->is_string()) continue;
      key = it->get<std::string>();
      entry.erase(naming);
      break;
    }
    out[std::move(key)] = std::move(entry);
  }
  return out;
}

void compare(const std::string& name, const Json& before, const Json& now,
             std::vector<Difference>& out) {
  if (before.is_array() && now.is_array()) return compare(name, by_name(before), by_name(now), out);
  if (!before.is_object() || !now.is_object()) {
    if (before != now) out.push_back({name, before.dump(), now.dump()});
    return;
  }
  const std::string prefix = name.empty() ? "" : name + '.';
  for (const auto& [key, value] : before.items()) {
    if (const auto it = now.find(key); it != now.end())
      compare(prefix + key, value, *it, out);
    else
      out.push_back({prefix + key, value.dump(), ""});
  }
  for (const auto& [key, value] : now.items())
    if (!before.contains(key)) out.push_back({prefix + key, "", value.dump()});
}

}  // namespace

std::string to_json(const RunRecord& record) {
  const Json out{{"schema", "tiersim.record/v1"},
                 {"provenance", provenance(record)},
                 {"config", Json::parse(record.config)},
                 {"results", results(record)}};
  return pretty(out);
}

std::string pretty_results(const RunRecord& record) {
  return pretty(results(record));
}

Expected<RecordOrigin> origin_of_record(const std::string& json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object())
    return Unexpected(std::string("is not JSON (a record, as `run -o` writes it, is)"));
  if (const auto schema = parsed.find("schema");
      schema == parsed.end() || *schema != "tiersim.record/v1")
    return Unexpected(std::string("is not a record (schema tiersim.record/v1 expected)"));
  for (const char* member : {"config", "results"}) {
    const auto it = parsed.find(member);
    if (it == parsed.end() || !it->is_object())
      return Unexpected(std::string("has no '") + member + "' object");
  }
  const auto provenance = parsed.find("provenance");
  if (provenance == parsed.end() || !provenance->is_object())
    return RecordOrigin{"unknown", "unknown"};
  return RecordOrigin{text_at(*provenance, "tiersim_version"), text_at(*provenance, "run_id")};
}

std::vector<Difference> differences(const std::string& before, const std::string& now) {
  std::vector<Difference> out;
  compare("", Json::parse(before).at("results"), Json::parse(now).at("results"), out);
  return out;
}

}  // namespace tiersim
