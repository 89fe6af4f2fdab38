#include "sim/record/compact_record.hpp"

#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "sim/config/json_text.hpp"

namespace tiersim {
namespace {

// Appends JSON to one text. `first_` is true where no comma is due. Nesting needs no stack, since
// after a closing bracket comes a comma or another closing bracket.
class Line {
 public:
  void open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    text(name);
    out_ += ':';
    first_ = true;
  }
  void text(std::string_view text) {
    separate();
    if (plain(text)) {
      out_ += '"';
      out_ += text;
      out_ += '"';
    } else {
      out_ += detail::json_string(text);
    }
  }
  void whole(std::int64_t value) {
    separate();
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }
  // The shortest text that reads back as this value.
  void real(double value) {
    separate();
    if (std::isfinite(value))
      fmt::format_to(std::back_inserter(out_), "{}", value);
    else
      out_ += "null";  // as pretty_results()
  }
  std::string take() { return std::move(out_); }

 private:
  static bool plain(std::string_view text) {
    for (const char c : text)
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == '\x7f')
        return false;
    return true;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

void write(Line& line, std::int64_t value) {
  line.whole(value);
}
void write(Line& line, double value) {
  line.real(value);
}
void write(Line& line, const std::string& value) {
  line.text(value);
}
void write(Line& line, NumberClass value) {
  line.text(name(value));
}
void write(Line& line, const Interval<double>& interval) {
  line.open('[');
  line.real(interval.low);
  line.real(interval.high);
  line.close(']');
}

template <class Value>
void write(Line& line, const std::vector<Value>& list);
template <class Value>
void write(Line& line, const std::map<std::string, Value>& map);

template <class Value>
void member(Line& line, std::string_view name, const Value& value) {
  line.key(name);
  write(line, value);
}

void write(Line& line, const Metric& metric) {
  line.open('{');
  member(line, "value", metric.value);
  member(line, "unit", metric.unit);
  member(line, "class", metric.number_class);
  if (metric.ci95) member(line, "ci95", *metric.ci95);
  line.close('}');
}
void write(Line& line, const ReadWrite& bytes) {
  line.open('{');
  member(line, "read", bytes.read);
  member(line, "write", bytes.write);
  line.close('}');
}
void write(Line& line, const std::pair<BytesByClass, BytesByClass>& bytes) {
  line.open('{');
  member(line, "read", bytes.first);
  member(line, "write", bytes.second);
  line.close('}');
}
void write(Line& line, const TimeShare& share) {
  line.open('{');
  member(line, "name", share.name);
  member(line, "seconds", share.seconds);
  line.close('}');
}
void write(Line& line, const KernelTimeRecord& kernel) {
  line.open('{');
  member(line, "family", kernel.family);
  member(line, "seconds", kernel.seconds);
  member(line, "class", kernel.number_class);
  member(line, "basis", kernel.basis);
  member(line, "source", kernel.source);
  if (kernel.ci95) member(line, "ci95", *kernel.ci95);
  if (kernel.beyond_timed > 0) member(line, "beyond_timed_s", kernel.beyond_timed);
  line.close('}');
}
void write(Line& line, const WeightRecord& part) {
  line.open('{');
  member(line, "name", part.part);
  member(line, "weights", part.weights);
  member(line, "model_weights", part.model_weights);
  member(line, "bytes", part.bytes);
  line.close('}');
}
void write(Line& line, const DeviceRecord& device) {
  line.open('{');
  member(line, "gpus_per_replica", device.gpus_per_replica);
  member(line, "tensor", device.tensor);
  member(line, "latent_slices", device.latent_slices);
  member(line, "pipeline", device.pipeline);
  member(line, "attention", device.attention);
  member(line, "tier", device.tier);
  member(line, "layers", device.layers);
  member(line, "sequences", device.sequences);
  member(line, "query_heads", device.query_heads);
  member(line, "kv_elements_per_token_layer", device.kv_elements_per_token_layer);
  member(line, "weights", device.weights);
  line.close('}');
}

void write(Line& line, const KvCapacity::Part& part) {
  line.open('{');
  member(line, "tier", part.tier);
  member(line, "what", part.what);
  member(line, "bytes", part.bytes);
  member(line, "class", part.number_class);
  line.close('}');
}
void write(Line& line, const KvCapacity& capacity) {
  line.open('{');
  member(line, "parts", capacity.parts);
  member(line, "block_positions", capacity.block_positions);
  member(line, "block_bytes", capacity.block_bytes);
  member(line, "blocks", capacity.blocks);
  member(line, "positions", capacity.positions);
  member(line, "max_sequences_full_length", capacity.max_sequences_full_length);
  member(line, "limited_by", capacity.limited_by);
  line.close('}');
}
void write(Line& line, const ServingCounts& counts) {
  line.open('{');
  member(line, "requests", counts.requests);
  member(line, "counted", counts.counted);
  member(line, "input_tokens", counts.input_tokens);
  member(line, "cached_tokens", counts.cached_tokens);
  member(line, "prefilled_tokens", counts.prefilled_tokens);
  member(line, "output_tokens", counts.output_tokens);
  member(line, "iterations", counts.iterations);
  member(line, "preemptions", counts.preemptions);
  line.close('}');
}
void write(Line& line, const KvMove& move) {
  line.open('{');
  member(line, "name", move.name);
  member(line, "bytes", move.bytes);
  member(line, "count", move.count);
  line.close('}');
}
void write(Line& line, const KvTierUse& tier) {
  line.open('{');
  member(line, "name", tier.name);
  member(line, "capacity_bytes", tier.capacity_bytes);
  member(line, "mean_bytes", tier.mean_bytes);
  member(line, "max_bytes", tier.max_bytes);
  line.close('}');
}
// The series as an object of names, in the order of the list.
void write(Line& line, const std::vector<ServingTimeline::Series>& series) {
  line.open('{');
  for (const auto& [name, values] : series) member(line, name, values);
  line.close('}');
}
void write(Line& line, const ServingTimeline& timeline) {
  line.open('{');
  member(line, "bin_s", timeline.bin_s);
  member(line, "last_bin_s", timeline.last_bin_s);
  member(line, "queue_depth", timeline.queue_depth);
  member(line, "running", timeline.running);
  member(line, "kv_use", timeline.kv_use);
  member(line, "input_tokens_per_s", timeline.input_tokens_per_s);
  member(line, "output_tokens_per_s", timeline.output_tokens_per_s);
  member(line, "held_bytes", timeline.held_bytes);
  member(line, "utilisation", timeline.utilisation);
  line.close('}');
}
void write(Line& line, const ServingRecord& serving) {
  line.open('{');
  member(line, "replicas", serving.replicas);
  member(line, "prefill_replicas", serving.prefill_replicas);
  member(line, "window_s", Interval<double>{serving.window_begin_s, serving.window_end_s});
  member(line, "counts", serving.counts);
  member(line, "kv_capacity", serving.capacity);
  member(line, "kv_moves", serving.moves);
  member(line, "kv_tiers", serving.tiers);
  member(line, "timeline", serving.timeline);
  line.close('}');
}

template <class Value>
void write(Line& line, const std::vector<Value>& list) {
  line.open('[');
  for (const Value& value : list) write(line, value);
  line.close(']');
}
template <class Value>
void write(Line& line, const std::map<std::string, Value>& map) {
  line.open('{');
  for (const auto& [key, value] : map) member(line, key, value);
  line.close('}');
}

void write_setup(Line& line, const RunRecord& record) {
  line.key("setup");
  line.open('{');
  member(line, "name", record.name);
  member(line, "gpus", record.gpus);
  member(line, "batch", record.batch);
  member(line, "context", record.context);
  member(line, "sharers", record.sharers);
  line.close('}');
}

}  // namespace

std::string compact_results(const RunRecord& record, Setup setup) {
  Line line;
  line.open('{');
  if (setup == Setup::included) write_setup(line, record);
  member(line, "metrics", record.metrics);
  member(line, "device", record.device);
  member(line, "capacity_bytes", record.capacity_bytes);
  member(line, "footprint_bytes", record.footprint_bytes);
  member(line, "footprint_by_class_bytes", record.footprint_by_class);
  member(line, "traffic_bytes", record.traffic_bytes);
  member(line, "traffic_by_class_bytes", record.traffic_by_class);
  member(line, "moved_bytes", record.moved_bytes);
  member(line, "channel_bytes", record.channel_bytes);
  member(line, "channel_utilisation", record.channel_utilisation);
  member(line, "phases", record.phases);
  member(line, "time_split", record.time_split);
  member(line, "kernel_times", record.kernel_times);
  member(line, "bound_shares", record.bound_shares);
  member(line, "bounded_by", record.bounded_by);
  member(line, "costs_unstated", record.costs_unstated);
  if (record.serving) member(line, "serving", *record.serving);
  line.close('}');
  return line.take();
}

std::string compact_metrics(const RunRecord& record, Setup setup) {
  Line line;
  line.open('{');
  if (setup == Setup::included) write_setup(line, record);
  member(line, "metrics", record.metrics);
  line.close('}');
  return line.take();
}

}  // namespace tiersim
