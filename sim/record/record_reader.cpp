#include "sim/record/record_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// A value of the record and its place. Only the first mistake is kept, and a wrong value reads as
// empty, so that the readers below need no error paths. Nodes live on the stack below their
// parents.
class JsonNode {
 public:
  JsonNode(const Json& json, std::string_view name, std::string& error)
      : json_(&json), name_(name), error_(&error) {}

  explicit operator bool() const { return json_ != nullptr; }

  /// A member of an object; a missing one is a mistake unless `optional`.
  JsonNode operator[](std::string_view key) const { return member(key, true); }
  JsonNode optional(std::string_view key) const { return member(key, false); }

  /// Calls read(key, node) for each member of an object, or for each entry of a list with an empty
  /// key.
  template <class Read>
  void each(const Read& read) const {
    if (json_ == nullptr) return;
    if (json_->is_array()) {
      std::size_t i = 0;
      for (const Json& entry : *json_) read(std::string_view(), JsonNode(entry, {}, i++, *this));
    } else {
      for (const auto& [key, value] : json_->items())
        read(std::string_view(key), JsonNode(value, key, 0, *this));
    }
  }

  void expect_object() const {
    if (json_ != nullptr && !json_->is_object()) fail("is no object");
  }
  void expect_list() const {
    if (json_ != nullptr && !json_->is_array()) fail("is no list");
  }
  /// Any member but these is a mistake.
  template <std::size_t N>
  void expect_only(const std::array<std::string_view, N>& known) const {
    if (json_ == nullptr || !json_->is_object()) return;
    for (const auto& [key, value] : json_->items())
      if (std::ranges::find(known, key) == known.end())
        fail(fmt::format("'{}' is unknown to this tiersim", printable(key)));
  }

  std::int64_t whole() const {
    if (json_ == nullptr) return 0;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > kMost) return no_whole();
    if (json_->is_number_integer()) return json_->get<std::int64_t>();
    constexpr double kExact = 9'007'199'254'740'992;  // 2^53
    if (!json_->is_number()) return no_whole();
    const auto value = json_->get<double>();
    if (std::trunc(value) != value || std::abs(value) > kExact) return no_whole();
    return static_cast<std::int64_t>(value);
  }
  double real() const {
    if (json_ == nullptr) return 0;
    if (json_->is_number()) return json_->get<double>();
    fail("is no number");
    return 0;
  }
  std::string text() const {
    if (json_ == nullptr) return {};
    if (json_->is_string()) return json_->get<std::string>();
    fail("is no text");
    return {};
  }
  bool truth() const {
    if (json_ == nullptr) return false;
    if (json_->is_boolean()) return json_->get<bool>();
    fail("is neither true nor false");
    return false;
  }
  NumberClass number_class() const {
    const std::string word = text();
    if (json_ == nullptr || !json_->is_string()) return NumberClass::assumed;
    const auto* const known = std::ranges::find(kNumberClassNames, word);
    if (known != kNumberClassNames.end())
      return static_cast<NumberClass>(known - kNumberClassNames.begin());
    fail(fmt::format("'{}' is none of {}", printable(word), fmt::join(kNumberClassNames, ", ")));
    return NumberClass::assumed;
  }
  /// On one line. JSON admits 0x7f in text; YAML, which may read the text again, does not.
  std::string json_text() const {
    if (json_ == nullptr) return {};
    std::string out;
    for (const char c : json_->dump()) {
      if (c == '\x7f')
        out += "\\u007f";
      else
        out += c;
    }
    return out;
  }

  void fail(const std::string& problem) const {
    if (!error_->empty()) return;
    const std::string at = place();
    *error_ = at.empty() ? problem : at + ": " + problem;
  }

 private:
  JsonNode(const Json& json, std::string_view name, std::size_t index, const JsonNode& parent)
      : json_(&json), name_(name), index_(index), parent_(&parent), error_(parent.error_) {}
  explicit JsonNode(const JsonNode& parent) : parent_(&parent), error_(parent.error_) {}

  JsonNode member(std::string_view key, bool required) const {
    if (json_ == nullptr) return JsonNode(*this);
    if (!json_->is_object()) {
      fail("is no object");
      return JsonNode(*this);
    }
    const auto it = json_->find(std::string(key));
    if (it != json_->end()) return {*it, key, 0, *this};
    if (required) fail(fmt::format("has no '{}'", key));
    return JsonNode(*this);
  }
  std::int64_t no_whole() const {
    fail("is no whole number");
    return 0;
  }
  std::string place() const {
    if (parent_ == nullptr) return std::string(name_);
    const std::string above = parent_->place();
    if (name_.empty()) return fmt::format("{}[{}]", above, index_);
    return above.empty() ? printable(name_) : above + '.' + printable(name_);
  }

  const Json* json_ = nullptr;  // null: missing
  std::string_view name_ = {};
  std::size_t index_ = 0;
  const JsonNode* parent_ = nullptr;
  std::string* error_;
};

void read(const JsonNode& node, std::int64_t& out) {
  out = node.whole();
}
void read(const JsonNode& node, double& out) {
  out = node.real();
}
void read(const JsonNode& node, std::string& out) {
  out = node.text();
}
void read(const JsonNode& node, NumberClass& out) {
  out = node.number_class();
}

template <class Value>
void read(const JsonNode& node, std::vector<Value>& out);
template <class Value>
void read(const JsonNode& node, std::map<std::string, Value>& out);

// Two numbers or texts, low first.
template <class Value>
void read(const JsonNode& node, Interval<Value>& out) {
  std::vector<Value> ends;
  read(node, ends);
  if (ends.size() == 2)
    out = {std::move(ends[0]), std::move(ends[1])};
  else
    node.fail("is no list of two");
}
template <class Value>
void read(const JsonNode& node, std::optional<Interval<Value>>& out) {
  if (node) read(node, out.emplace());
}

void read(const JsonNode& node, Metric& out) {
  node.expect_only<4>({"value", "unit", "class", "ci95"});
  read(node["value"], out.value);
  read(node["unit"], out.unit);
  read(node["class"], out.number_class);
  read(node.optional("ci95"), out.ci95);
}
void read(const JsonNode& node, NumberRecord& out) {
  node.expect_only<6>({"path", "value", "class", "source", "in_times", "ci95"});
  read(node["path"], out.path);
  read(node["value"], out.value);
  read(node["class"], out.number_class);
  read(node["source"], out.source);
  out.in_times = node["in_times"].truth();
  read(node.optional("ci95"), out.ci95);
}
void read(const JsonNode& node, ReadWrite& out) {
  node.expect_only<2>({"read", "write"});
  read(node["read"], out.read);
  read(node["write"], out.write);
}
void read(const JsonNode& node, std::pair<BytesByClass, BytesByClass>& out) {
  node.expect_only<2>({"read", "write"});
  read(node["read"], out.first);
  read(node["write"], out.second);
}
void read(const JsonNode& node, TimeShare& out) {
  node.expect_only<2>({"name", "seconds"});
  read(node["name"], out.name);
  read(node["seconds"], out.seconds);
}
void read(const JsonNode& node, KernelTimeRecord& out) {
  node.expect_only<7>({"family", "seconds", "class", "basis", "source", "ci95", "beyond_timed_s"});
  read(node["family"], out.family);
  read(node["seconds"], out.seconds);
  read(node["class"], out.number_class);
  read(node["basis"], out.basis);
  read(node["source"], out.source);
  read(node.optional("ci95"), out.ci95);
  if (const JsonNode beyond = node.optional("beyond_timed_s")) read(beyond, out.beyond_timed);
}
void read(const JsonNode& node, WeightRecord& out) {
  node.expect_only<4>({"name", "weights", "model_weights", "bytes"});
  read(node["name"], out.part);
  read(node["weights"], out.weights);
  read(node["model_weights"], out.model_weights);
  read(node["bytes"], out.bytes);
}
void read(const JsonNode& node, DeviceRecord& out) {
  node.expect_only<11>({"gpus_per_replica", "tensor", "latent_slices", "pipeline", "attention",
                        "tier", "layers", "sequences", "query_heads", "kv_elements_per_token_layer",
                        "weights"});
  read(node["gpus_per_replica"], out.gpus_per_replica);
  read(node["tensor"], out.tensor);
  read(node["latent_slices"], out.latent_slices);
  read(node["pipeline"], out.pipeline);
  read(node["attention"], out.attention);
  read(node["tier"], out.tier);
  read(node["layers"], out.layers);
  read(node["sequences"], out.sequences);
  read(node["query_heads"], out.query_heads);
  read(node["kv_elements_per_token_layer"], out.kv_elements_per_token_layer);
  read(node["weights"], out.weights);
}

void read(const JsonNode& node, KvCapacity::Part& out) {
  node.expect_only<4>({"tier", "what", "bytes", "class"});
  read(node["tier"], out.tier);
  read(node["what"], out.what);
  read(node["bytes"], out.bytes);
  read(node["class"], out.number_class);
}
void read(const JsonNode& node, KvCapacity& out) {
  node.expect_only<7>({"parts", "block_positions", "block_bytes", "blocks", "positions",
                       "max_sequences_full_length", "limited_by"});
  read(node["parts"], out.parts);
  read(node["block_positions"], out.block_positions);
  read(node["block_bytes"], out.block_bytes);
  read(node["blocks"], out.blocks);
  read(node["positions"], out.positions);
  read(node["max_sequences_full_length"], out.max_sequences_full_length);
  read(node["limited_by"], out.limited_by);
}
void read(const JsonNode& node, ServingCounts& out) {
  node.expect_only<8>({"requests", "counted", "input_tokens", "cached_tokens", "prefilled_tokens",
                       "output_tokens", "iterations", "preemptions"});
  read(node["requests"], out.requests);
  read(node["counted"], out.counted);
  read(node["input_tokens"], out.input_tokens);
  read(node["cached_tokens"], out.cached_tokens);
  read(node["prefilled_tokens"], out.prefilled_tokens);
  read(node["output_tokens"], out.output_tokens);
  read(node["iterations"], out.iterations);
  read(node["preemptions"], out.preemptions);
}
void read(const JsonNode& node, KvMove& out) {
  node.expect_only<3>({"name", "bytes", "count"});
  read(node["name"], out.name);
  read(node["bytes"], out.bytes);
  read(node["count"], out.count);
}
void read(const JsonNode& node, KvTierUse& out) {
  node.expect_only<4>({"name", "capacity_bytes", "mean_bytes", "max_bytes"});
  read(node["name"], out.name);
  read(node["capacity_bytes"], out.capacity_bytes);
  read(node["mean_bytes"], out.mean_bytes);
  read(node["max_bytes"], out.max_bytes);
}
// A series from an object of names, in the order of the record.
void read_series(const JsonNode& node, std::vector<ServingTimeline::Series>& out) {
  node.expect_object();
  node.each([&](std::string_view key, const JsonNode& values) {
    read(values, out.emplace_back(ServingTimeline::Series{std::string(key), {}}).values);
  });
}
void read(const JsonNode& node, ServingTimeline& out) {
  node.expect_only<9>({"bin_s", "last_bin_s", "queue_depth", "running", "kv_use",
                       "input_tokens_per_s", "output_tokens_per_s", "held_bytes", "utilisation"});
  read(node["bin_s"], out.bin_s);
  read(node["last_bin_s"], out.last_bin_s);
  read(node["queue_depth"], out.queue_depth);
  read(node["running"], out.running);
  read(node["kv_use"], out.kv_use);
  read(node["input_tokens_per_s"], out.input_tokens_per_s);
  read(node["output_tokens_per_s"], out.output_tokens_per_s);
  read_series(node["held_bytes"], out.held_bytes);
  read_series(node["utilisation"], out.utilisation);
}
void read(const JsonNode& node, ServingRecord& out) {
  node.expect_only<8>({"replicas", "prefill_replicas", "window_s", "counts", "kv_capacity",
                       "kv_moves", "kv_tiers", "timeline"});
  read(node["replicas"], out.replicas);
  read(node["prefill_replicas"], out.prefill_replicas);
  Interval<double> window;
  read(node["window_s"], window);
  out.window_begin_s = window.low;
  out.window_end_s = window.high;
  read(node["counts"], out.counts);
  read(node["kv_capacity"], out.capacity);
  read(node["kv_moves"], out.moves);
  read(node["kv_tiers"], out.tiers);
  read(node["timeline"], out.timeline);
}

template <class Value>
void read(const JsonNode& node, std::vector<Value>& out) {
  node.expect_list();
  node.each([&](std::string_view, const JsonNode& entry) { read(entry, out.emplace_back()); });
}
template <class Value>
void read(const JsonNode& node, std::map<std::string, Value>& out) {
  node.expect_object();
  node.each(
      [&](std::string_view key, const JsonNode& value) { read(value, out[std::string(key)]); });
}

void read_setup(const JsonNode& node, RunRecord& out) {
  if (!node) return;
  node.expect_only<5>({"name", "gpus", "batch", "context", "sharers"});
  read(node["name"], out.name);
  read(node["gpus"], out.gpus);
  read(node["batch"], out.batch);
  read(node["context"], out.context);
  read(node["sharers"], out.sharers);
}

void read_results(const JsonNode& node, RunRecord& out) {
  node.expect_object();
  node.expect_only<18>({"setup", "metrics", "device", "capacity_bytes", "footprint_bytes",
                        "footprint_by_class_bytes", "traffic_bytes", "traffic_by_class_bytes",
                        "moved_bytes", "channel_bytes", "channel_utilisation", "phases",
                        "time_split", "kernel_times", "bound_shares", "bounded_by",
                        "costs_unstated", "serving"});
  const auto read_if_there = [&](std::string_view key, auto& member) {
    if (const JsonNode value = node.optional(key)) read(value, member);
  };
  read_setup(node.optional("setup"), out);
  read_if_there("metrics", out.metrics);
  read_if_there("device", out.device);
  read_if_there("capacity_bytes", out.capacity_bytes);
  read_if_there("footprint_bytes", out.footprint_bytes);
  read_if_there("footprint_by_class_bytes", out.footprint_by_class);
  read_if_there("traffic_bytes", out.traffic_bytes);
  read_if_there("traffic_by_class_bytes", out.traffic_by_class);
  read_if_there("moved_bytes", out.moved_bytes);
  read_if_there("channel_bytes", out.channel_bytes);
  read_if_there("channel_utilisation", out.channel_utilisation);
  read_if_there("phases", out.phases);
  read_if_there("time_split", out.time_split);
  read_if_there("kernel_times", out.kernel_times);
  read_if_there("bound_shares", out.bound_shares);
  read_if_there("bounded_by", out.bounded_by);
  read_if_there("costs_unstated", out.costs_unstated);
  if (const JsonNode serving = node.optional("serving")) read(serving, out.serving.emplace());
}

void read_provenance(const JsonNode& node, RunRecord& out) {
  node.expect_only<4>({"tiersim_version", "run_id", "numbers", "intervals"});
  read(node["tiersim_version"], out.tiersim_version);
  read(node["run_id"], out.run_id);
  read(node["numbers"], out.numbers);
  if (const JsonNode draws = node.optional("intervals")) {
    draws.expect_only<3>({"draws", "seed", "numbers"});
    out.draws.emplace();
    read(draws["draws"], out.draws->draws);
    read(draws["seed"], out.draws->seed);
    read(draws["numbers"], out.draws->numbers);
  }
}

// The members that a record holds only in its configuration. It runs after the results, which name
// the devices of `sharers`; a served configuration has no batch or context.
void read_config(const JsonNode& config, RunRecord& out) {
  config.expect_object();
  out.config = config.json_text();
  read(config["name"], out.name);
  const auto read_if_there = [](const JsonNode& node, std::int64_t& member) {
    if (node) read(node, member);
  };
  const JsonNode step = config["step"];
  read_if_there(step.optional("batch"), out.batch);
  read_if_there(step.optional("context"), out.context);
  const JsonNode system = config["system"];
  const JsonNode gpus = system["gpus"];
  read(gpus["count"], out.gpus);
  std::int64_t hosts = 0;
  read(gpus["hosts"], hosts);
  if (hosts < 1) gpus.fail("has no hosts");
  std::vector<std::string> by_host;
  std::vector<std::string> by_all;
  const JsonNode shared = system["shared"];
  read(shared["host"], by_host);
  read(shared["all"], by_all);
  for (const auto& [device, bytes] : out.traffic_bytes) {
    std::int64_t& sharers = out.sharers[device] = 1;
    if (std::ranges::find(by_host, device) != by_host.end() && hosts > 0)
      sharers = out.gpus / hosts;
    if (std::ranges::find(by_all, device) != by_all.end()) sharers = out.gpus;
  }
}

Expected<RunRecord> finish(RunRecord record, const std::string& error) {
  if (!error.empty()) return Unexpected(error);
  return record;
}

}  // namespace

Expected<RunRecord> read_record(const std::string& json) {
  const auto origin = origin_of_record(json);
  if (!origin) return Unexpected(origin.error());
  const Json parsed = Json::parse(json);
  std::string error;
  const JsonNode root(parsed, "", error);
  root.expect_only<4>({"schema", "provenance", "config", "results"});
  RunRecord out;
  read_provenance(root["provenance"], out);
  read_results(root["results"], out);
  read_config(root["config"], out);
  if (!error.empty())
    error += fmt::format(" (a record of tiersim {})", printable(origin->tiersim_version));
  return finish(std::move(out), error);
}

Expected<RunRecord> read_results(const std::string& results_json) {
  const Json parsed = Json::parse(results_json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return Unexpected(std::string("is not JSON"));
  std::string error;
  RunRecord out;
  read_results(JsonNode(parsed, "results", error), out);
  return finish(std::move(out), error);
}

}  // namespace tiersim
