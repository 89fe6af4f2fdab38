#include "reports/footprint/footprint_report.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/footprint/gpu_memory.hpp"
#include "reports/footprint/shares_text.hpp"
#include "reports/summary/sharing_text.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Cell bytes_cell(std::int64_t bytes) {
  return {bytes, bytes == 0 ? "-" : display(Bytes::from_base(bytes))};
}

// "1/2"; empty for parts that every GPU holds in full; a percentage for uneven splits.
std::string share_text(const WeightRecord& part) {
  constexpr std::int64_t kReadable = 99;
  const std::int64_t common = std::gcd(part.weights, part.model_weights);
  if (part.weights == part.model_weights) return "";
  const std::int64_t of = part.model_weights / common;
  if (of <= kReadable) return fmt::format("{}/{}", part.weights / common, of);
  const double share = static_cast<double>(part.weights) / static_cast<double>(part.model_weights);
  return share < 0.001 ? "< 0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

// "128K" for multiples of 1024.
std::string context_text(std::int64_t context) {
  constexpr std::int64_t kKibi = 1024;
  if (context % kKibi != 0) return std::to_string(context);
  return fmt::format("{}K", context / kKibi);
}

Table gpu_table(const FootprintReport& report) {
  Table table{.title = "One GPU of a replica",
              .columns = {{"scenario", Align::left},
                          {"GPUs"},
                          {"shared by", Align::left},
                          {"layers"},
                          {"query heads"},
                          {"KV elements per token and layer"},
                          {"batch"},
                          {"its sequences"}}};
  for (const FootprintCase& c : report.cases) {
    const DeviceRecord& device = c.record->device;
    table.add({printable(c.record->name), device.gpus_per_replica, sharing_text(device),
               device.layers, device.query_heads, device.kv_elements_per_token_layer,
               c.record->batch, device.sequences});
  }
  return table;
}

Table memory_table(const FootprintReport& report) {
  Table table{.title = "Its memory at the scenario's batch and context",
              .columns = {{"scenario", Align::left}, {"context"}, {"tier", Align::left}}};
  for (const char* title :
       {"weights", "KV cache", "activations", "workspace", "rest", "sum", "capacity"})
    table.columns.push_back(bytes_column(title));
  table.columns.insert(table.columns.end(), {{"GPUs on it"}, {"fits", Align::left}});
  for (const FootprintCase& c : report.cases)
    for (const GpuMemory& m : gpu_memory(*c.record)) {
      Row row{printable(c.record->name), Cell(c.record->context, context_text(c.record->context)),
              printable(m.tier)};
      for (const std::int64_t bytes :
           {m.weights, m.kv_cache, m.activations, m.workspace, m.rest, m.sum(), m.capacity})
        row.push_back(bytes_cell(bytes));
      row.emplace_back(m.shared_by);
      row.emplace_back(m.fits());
      table.add(std::move(row));
    }
  return table;
}

// A row for each part.
Table weight_rows(const FootprintReport& report) {
  Table table{.title = "Its weights",
              .columns = {{"scenario", Align::left},
                          {"part", Align::left},
                          {"weights"},
                          {"weights of the model"},
                          {"bytes [B]"}},
              .readers = Readers::csv};
  for (const FootprintCase& c : report.cases)
    for (const WeightRecord& part : c.record->device.weights)
      table.add(
          {printable(c.record->name), part.part, part.weights, part.model_weights, part.bytes});
  return table;
}

// The parts of any scenario, in the order of the records.
std::vector<std::string> parts_of(const FootprintReport& report) {
  std::vector<std::string> out;
  for (const FootprintCase& c : report.cases) {
    auto at = out.begin();
    for (const WeightRecord& part : c.record->device.weights) {
      const auto known = std::ranges::find(out, part.part);
      at = (known == out.end() ? out.insert(at, part.part) : known) + 1;
    }
  }
  return out;
}

// Weights in memory beyond the parts of the model. The bytes from rounding 4-bit weights up to
// bytes do not count.
std::int64_t weights_of_method(const RunRecord& record) {
  std::int64_t of_model = 0;
  for (const WeightRecord& part : record.device.weights) of_model += part.bytes;
  const std::int64_t more = gpu_memory(record).front().weights - of_model;
  return std::max<std::int64_t>(more, 0);
}

// A column for each part.
Table weight_columns(const FootprintReport& report) {
  Table table{.title = "Its weights, and which share of the model's they are where not all",
              .columns = {{"scenario", Align::left}},
              .readers = Readers::people};
  const std::vector<std::string> parts = parts_of(report);
  for (const std::string& part : parts) table.columns.push_back({part});
  for (const FootprintCase& c : report.cases) {
    std::vector<std::string> row{printable(c.record->name)};
    for (const std::string& name : parts) {
      const auto& weights = c.record->device.weights;
      const auto part = std::ranges::find(weights, name, &WeightRecord::part);
      if (part == weights.end()) {
        row.emplace_back("-");
        continue;
      }
      const std::string share = share_text(*part);
      row.push_back(bytes_cell(part->bytes).shown() +
                    (share.empty() ? "" : fmt::format(" ({})", share)));
    }
    if (const std::int64_t more = weights_of_method(*c.record); more > 0)
      table.notes.push_back(fmt::format("{}: and {} of its method", printable(c.record->name),
                                        bytes_cell(more).shown()));
    table.add(std::move(row));
  }
  return table;
}

Table batch_table(const FootprintReport& report) {
  Table table{.title = "Largest batch of a replica that fits, by context",
              .columns = {{"scenario", Align::left}}};
  for (const std::int64_t context : report.contexts)
    table.columns.push_back({.title = context_text(context), .key = std::to_string(context)});
  for (const FootprintCase& c : report.cases) {
    Row row{printable(c.record->name)};
    for (std::size_t i = 0; i < c.largest.size(); ++i) {
      const LargestBatch& largest = c.largest[i];
      row.push_back(largest.batch ? Cell(*largest.batch) : Cell("-"));
      if (!largest.problem.empty())
        table.notes.push_back(fmt::format("{} at {}: {}", printable(c.record->name),
                                          table.columns[i + 1].title, printable(largest.problem)));
    }
    table.add(std::move(row));
  }
  return table;
}

Json to_object(const GpuMemory& memory) {
  Json classes = Json::object();
  for (const auto& [name, bytes] : memory.by_class) classes[name] = bytes;
  return {{"by_class_bytes", std::move(classes)},
          {"weights_bytes", memory.weights},
          {"kv_cache_bytes", memory.kv_cache},
          {"activations_bytes", memory.activations},
          {"workspace_bytes", memory.workspace},
          {"rest_bytes", memory.rest},
          {"sum_bytes", memory.sum()},
          {"capacity_bytes", memory.capacity},
          {"shared_by_gpus", memory.shared_by},
          {"fits", memory.fits()}};
}

Json to_object(const FootprintCase& c, const std::vector<std::int64_t>& contexts) {
  Json tiers = Json::object();
  for (const GpuMemory& memory : gpu_memory(*c.record)) tiers[memory.tier] = to_object(memory);
  Json largest = Json::array();
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    Json& entry = largest.emplace_back(Json{{"context", contexts[i]}, {"batch", nullptr}});
    if (c.largest[i].batch) entry["batch"] = *c.largest[i].batch;
    if (!c.largest[i].problem.empty()) entry["problem"] = c.largest[i].problem;
  }
  return {{"name", c.record->name},
          {"file", c.scenario},
          {"run_id", c.record->run_id},
          {"batch", c.record->batch},
          {"context", c.record->context},
          {"device", Json::parse(to_json(*c.record))["results"]["device"]},
          {"tiers", std::move(tiers)},
          {"largest_batch", std::move(largest)}};
}

}  // namespace

std::vector<Table> tables_of(const FootprintReport& report) {
  return {gpu_table(report), memory_table(report), weight_columns(report), weight_rows(report),
          batch_table(report)};
}

std::string to_json(const FootprintReport& report) {
  Json scenarios = Json::array();
  for (const FootprintCase& c : report.cases) scenarios.push_back(to_object(c, report.contexts));
  const Json out{
      {"report", "footprint"}, {"contexts", report.contexts}, {"scenarios", std::move(scenarios)}};
  return out.dump(2) + '\n';
}

}  // namespace tiersim
