#include "sim/run/run_record.hpp"

#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Json to_object(const Metric& metric) {
  Json out{{"value", metric.value}, {"unit", metric.unit}, {"class", name(metric.number_class)}};
  if (metric.ci95) out["ci95"] = {metric.ci95->first, metric.ci95->second};
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

Json provenance(const RunRecord& record) {
  Json numbers = Json::array();
  for (const NumberRecord& number : record.numbers)
    numbers.push_back({{"path", number.path},
                       {"value", number.value},
                       {"class", name(number.number_class)},
                       {"source", number.source}});
  return {{"tiersim_version", record.tiersim_version},
          {"run_id", record.run_id},
          {"numbers", std::move(numbers)}};
}

Json results(const RunRecord& record) {
  return {{"metrics", to_object(record.metrics)},
          {"footprint_bytes", to_object(record.footprint_bytes)},
          {"footprint_by_class_bytes", to_object(record.footprint_by_class)},
          {"traffic_bytes", to_object(record.traffic_bytes)},
          {"traffic_by_class_bytes", to_object(record.traffic_by_class)},
          {"moved_bytes", to_object(record.moved_bytes)},
          {"channel_bytes", to_object(record.channel_bytes)},
          {"channel_utilisation", to_object(record.channel_utilisation)},
          {"phases", to_object(record.phases)},
          {"time_split", to_object(record.time_split)},
          {"bound_shares", to_object(record.bound_shares)},
          {"bounded_by", record.bounded_by},
          {"costs_unstated", record.costs_unstated}};
}

Expected<std::string> member_of_record(const std::string& json, const char* member) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object()) return Unexpected(std::string("is not JSON"));
  if (const auto schema = parsed.find("schema");
      schema == parsed.end() || *schema != "tiersim.record/v1")
    return Unexpected(std::string("is not a record (schema tiersim.record/v1 expected)"));
  const auto it = parsed.find(member);
  if (it == parsed.end() || !it->is_object())
    return Unexpected(std::string("has no '") + member + "' object");
  return it->dump();
}

}  // namespace

std::string to_json(const RunRecord& record) {
  const Json out{{"schema", "tiersim.record/v1"},
                 {"provenance", provenance(record)},
                 {"config", Json::parse(record.config)},
                 {"results", results(record)}};
  return out.dump(2) + '\n';
}

std::string pretty_results(const RunRecord& record) {
  return results(record).dump(2) + '\n';
}

Expected<std::string> config_of_record(const std::string& json) {
  return member_of_record(json, "config");
}
Expected<std::string> results_of_record(const std::string& json) {
  return member_of_record(json, "results");
}

}  // namespace tiersim
