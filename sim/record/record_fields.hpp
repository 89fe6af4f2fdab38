#pragma once
// The fields of a record, stated once: key, member and meaning of each, in the order of the text.
// Four visitors of describe() write, read and explain records: the text for people
// (run_record.cpp), the line for stores (compact_record.cpp), the strict reader (record_reader.cpp)
// and the JSON Schema (record_schema.cpp):
//
//   class Keys : public Visitor<Keys> {
//    public:
//     void doc(std::string_view name, std::string_view help);  // of the object, first
//     template <class T>
//     void field(const Field& field, T&& member);  // once for each field
//   };
//
// A member is a number, a text, a NumberClass, an Interval, a struct with a describe() here, a list
// or a map by name of these, a std::optional of one, or a Tag or JsonText. Visitors are templates
// rather than the Fields of sim/config, since a sweep writes a record in microseconds.
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim::record {

enum class Presence : std::uint8_t {
  always,
  in_results,  ///< always, except that a store may leave it out; it then reads as empty
  if_any,      ///< where the optional has a value
  above_zero,  ///< where the double is above 0
  in_stores    ///< in stores alone, which keep no configuration
};

struct Field {
  std::string_view key;
  std::string_view help;
  Presence presence = Presence::always;
  /// True for doubles that count bytes, FLOPs or sequences: the text for people has 128, not 128.0.
  bool is_count = false;
};

/// The words of describe().
template <class Derived>
class Visitor {
 public:
  template <class T>
  void required(std::string_view key, T&& member, std::string_view help) {
    visit({key, help}, std::forward<T>(member));
  }
  template <class T>
  void count(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::always, true}, std::forward<T>(member));
  }
  template <class T>
  void part(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::in_results}, std::forward<T>(member));
  }
  template <class T>
  void optional(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::if_any}, std::forward<T>(member));
  }
  template <class T>
  void optional_count(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::if_any, true}, std::forward<T>(member));
  }
  template <class T>
  void above_zero(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::above_zero}, std::forward<T>(member));
  }
  template <class T>
  void in_stores(std::string_view key, T&& member, std::string_view help) {
    visit({key, help, Presence::in_stores}, std::forward<T>(member));
  }

 private:
  template <class T>
  void visit(const Field& field, T&& member) {
    static_cast<Derived&>(*this).field(field, std::forward<T>(member));
  }
};

/// A constant text.
struct Tag {
  std::string_view text;
};
/// A text that holds a JSON object.
template <class Text>
struct JsonText {
  Text& text;
};
template <class Text>
JsonText(Text&) -> JsonText<Text>;

/// The objects of the text that a RunRecord has no structs for.
template <class Record>
struct ProvenanceOf {
  Record& record;
};
template <class Record>
struct SetupOf {
  Record& record;
};
template <class Record>
struct ResultsOf {
  Record& record;
};
/// The part of the results that a sweep keeps with `keep: metrics`.
template <class Record>
struct MetricsOf {
  Record& record;
};
template <class Record>
ProvenanceOf(Record&) -> ProvenanceOf<Record>;
template <class Record>
SetupOf(Record&) -> SetupOf<Record>;
template <class Record>
ResultsOf(Record&) -> ResultsOf<Record>;
template <class Record>
MetricsOf(Record&) -> MetricsOf<Record>;

// Kinds of members.
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsInterval = false;
template <class T>
inline constexpr bool kIsInterval<Interval<T>> = true;
template <class T>
inline constexpr bool kIsJsonText = false;
template <class T>
inline constexpr bool kIsJsonText<JsonText<T>> = true;
/// An object by name, in the order of the list.
template <class T>
inline constexpr bool kIsSeries = std::is_same_v<T, std::vector<ServingTimeline::Series>>;

/// An Object or a const one.
template <class T, class Object>
concept Is = std::same_as<std::remove_const_t<T>, Object>;

template <class V>
void describe(V& v, Is<Metric> auto& m) {
  v.doc("metric", "A number of the results; `tiersim list metrics` defines the names.");
  v.count("value", m.value, "In `unit`.");
  v.required("unit", m.unit, "Unit of the value and of its interval; 1 of a ratio.");
  v.required("class", m.number_class, "The weakest class of the numbers behind it.");
  v.optional_count("ci95", m.ci95, "95 % interval, where a number behind it has one.");
}

template <class V>
void describe(V& v, Is<NumberRecord> auto& n) {
  v.doc("number", "A number of the configuration that says where it comes from.");
  v.required("path", n.path, "Its key, as --set takes it.");
  v.required("value", n.value, "The number with its unit.");
  v.required("class", n.number_class, "How it is known.");
  v.required("source", n.source, "Document, table or measurement.");
  v.required("in_times", n.in_times, "True where times of this run rest on it.");
  v.optional("ci95", n.ci95, "95 % interval, where it has one.");
}

template <class V>
void describe(V& v, Is<DrawsRecord> auto& d) {
  v.doc("intervals", "The draws that the intervals of the metrics come from.");
  v.required("draws", d.draws, "How often the numbers were drawn.");
  v.required("seed", d.seed, "Seed of the draws.");
  v.required("numbers", d.numbers, "Numbers with intervals that the run uses.");
}

template <class V>
void describe(V& v, Is<ReadWrite> auto& b) {
  v.doc("read_write", "Bytes in both directions.");
  v.required("read", b.read, "Bytes read.");
  v.required("write", b.write, "Bytes written.");
}

template <class V>
void describe(V& v, Is<ReadWriteByClass> auto& b) {
  v.doc("read_write_by_class", "Bytes in both directions by tensor class, zeros left out.");
  v.required("read", b.read, "Bytes read.");
  v.required("write", b.write, "Bytes written.");
}

template <class V>
void describe(V& v, Is<TimeShare> auto& s) {
  v.doc("time_share", "A part of a time.");
  v.required("name", s.name, "The part.");
  v.required("seconds", s.seconds, "Its seconds.");
}

template <class V>
void describe(V& v, Is<KernelTimeRecord> auto& k) {
  v.doc("kernel_time", "The kernels of one family, on GPU 0.");
  v.required("family", k.family, "Name of the family.");
  v.required("seconds", k.seconds, "Seconds of all its operations in a step, as run.");
  v.required("class", k.number_class,
             "The weakest class of its numbers and of the devices that it waits for.");
  v.required("basis", k.basis, "fitted, transferred or specification.");
  v.required("source", k.source, "The calibration and kernel, or the reason why there is none.");
  v.optional("ci95", k.ci95, "95 % interval of the seconds.");
  v.above_zero("beyond_timed_s", k.beyond_timed,
               "Seconds of them at sizes outside of those that were timed.");
}

template <class V>
void describe(V& v, Is<WeightRecord> auto& w) {
  v.doc("weights", "One part of the weights.");
  v.required("name", w.part, "The part.");
  v.required("weights", w.weights, "Weights on one GPU.");
  v.required("model_weights", w.model_weights, "Weights of the whole model.");
  v.required("bytes", w.bytes, "Bytes on one GPU.");
}

template <class V>
void describe(V& v, Is<DeviceRecord> auto& d) {
  v.doc("device", "One GPU of a replica: the one that has most.");
  v.required("gpus_per_replica", d.gpus_per_replica,
             "Tensor times context times pipeline parallelism.");
  v.required("tensor", d.tensor, "Tensor parallelism.");
  v.required("latent_slices", d.latent_slices, "GPUs that share one latent cache.");
  v.optional("context", d.context, "Ranks that cut the positions of a prompt.");
  v.required("pipeline", d.pipeline, "Pipeline parallelism.");
  v.required("attention", d.attention, "tensor, or data: every GPU has sequences of its own.");
  v.optional("attention_tensor", d.attention_tensor,
             "GPUs that share sequences, where several do under data.");
  v.required("tier", d.tier, "Its own memory.");
  v.required("layers", d.layers, "Layers of the decoder.");
  v.required("sequences", d.sequences, "Sequences whose attention it does.");
  v.required("query_heads", d.query_heads, "Query heads that it has of each of them.");
  v.required("kv_elements_per_token_layer", d.kv_elements_per_token_layer,
             "Elements of keys and values that the model itself caches.");
  v.required("weights", d.weights, "The parts that it holds.");
}

template <class V>
void describe(V& v, Is<KvCapacity::Part> auto& p) {
  v.doc("kv_capacity_part", "A part of one tier of one GPU.");
  v.required("tier", p.tier, "The tier.");
  v.required("what", p.what, "`installed`, or the use of these bytes.");
  v.required("bytes", p.bytes, "Bytes on one GPU.");
  v.required("class", p.number_class, "How the bytes are known.");
}

template <class V>
void describe(V& v, Is<KvCapacity> auto& c) {
  v.doc("kv_capacity", "Blocks of keys and values that fit, and why.");
  v.required("parts", c.parts, "Every byte of the tiers, in the order in which it is printed.");
  v.required("block_positions", c.block_positions, "Positions of a block.");
  v.required("block_bytes", c.block_bytes, "Bytes of a block on one GPU, all layers and tiers.");
  v.required("blocks", c.blocks, "Blocks of one replica.");
  v.optional("state_blocks", c.state_blocks,
             "Blocks of each sequence that hold states of linear attention.");
  v.required("positions", c.positions, "Positions of all blocks.");
  v.required("max_sequences_full_length", c.max_sequences_full_length,
             "Sequences of the longest request that fit at the same time.");
  v.required("limited_by", c.limited_by, "The tier that is full first.");
}

template <class V>
void describe(V& v, Is<ServingCounts> auto& c) {
  v.doc("counts", "Requests and tokens of the whole run.");
  v.required("requests", c.requests, "All requests.");
  v.required("counted", c.counted, "Requests after the warm-up: the latencies are theirs.");
  v.required("input_tokens", c.input_tokens, "Tokens of the prompts.");
  v.required("cached_tokens", c.cached_tokens, "Input tokens that were found in a prefix cache.");
  v.required("prefilled_tokens", c.prefilled_tokens,
             "Input tokens that were computed, again after a preemption included.");
  v.required("output_tokens", c.output_tokens, "Tokens of the answers.");
  v.required("iterations", c.iterations, "Iterations of all replicas.");
  v.required("preemptions", c.preemptions, "Times that a sequence lost its blocks.");
}

template <class V>
void describe(V& v, Is<KvMove> auto& m) {
  v.doc("kv_move", "Blocks of keys and values that were moved for one purpose.");
  v.required("name", m.name,
             "swap_out, swap_in, handover, prefix_load, prefix_store, state_load, state_store or "
             "prefetch.");
  v.required("bytes", m.bytes, "Bytes of all moves.");
  v.required("count", m.count, "Moves.");
}

template <class V>
void describe(V& v, Is<KvTierUse> auto& t) {
  v.doc("kv_tier", "Keys and values that a tier held, all replicas; idle prefixes included.");
  v.required("name", t.name, "The tier.");
  v.required("capacity_bytes", t.capacity_bytes, "Bytes that it may hold of them.");
  v.count("mean_bytes", t.mean_bytes, "Mean over the window.");
  v.required("max_bytes", t.max_bytes, "The most of the whole run.");
}

template <class V>
void describe(V& v, Is<ServedLatency> auto& l) {
  v.doc("served_latency", "Latencies of the requests of one kind, in seconds.");
  v.count("mean", l.mean, "Mean.");
  v.count("p50", l.p50, "Median.");
  v.count("p90", l.p90, "90th percentile.");
  v.count("p95", l.p95, "95th percentile.");
  v.count("p99", l.p99, "99th percentile.");
}

template <class V>
void describe(V& v, Is<ServedPriority> auto& p) {
  v.doc("served_priority", "Latencies of the counted requests of one priority.");
  v.required("priority", p.priority, "A lower number goes first.");
  v.required("requests", p.requests, "How many.");
  v.required("queue_time_s", p.queue_time_s, "From the arrival to the first iteration.");
  v.required("ttft_s", p.ttft_s, "To the first token.");
  v.optional("tpot_s", p.tpot_s, "Per output token after the first one, where there is another.");
  v.required("e2e_latency_s", p.e2e_latency_s, "To the last token.");
  v.optional("slo_attainment", p.slo_attainment, "Share that meets the limits of a request.");
}

template <class V>
void describe(V& v, Is<ServingTimeline> auto& t) {
  v.doc("timeline", "Means over bins of equal width from time 0 on; the last ends with the run.");
  v.required("bin_s", t.bin_s, "Width of a bin.");
  v.required("last_bin_s", t.last_bin_s, "Width of the last one.");
  v.required("queue_depth", t.queue_depth, "Requests that wait, of every bin.");
  v.required("running", t.running, "Requests that run, of every bin.");
  v.required("kv_use", t.kv_use, "Share of the blocks that is taken, of every bin.");
  v.required("input_tokens_per_s", t.input_tokens_per_s, "Rate of input tokens, of every bin.");
  v.optional("cached_tokens_per_s", t.cached_tokens_per_s,
             "Of these the rate of tokens that a prefix cache had, where there is one.");
  v.optional(
      "found_tokens_per_s", t.found_tokens_per_s,
      "Of these by place, where tiers lie below the pool: `pool`, `tier1`, `tier2`, `tier3`.");
  v.required("output_tokens_per_s", t.output_tokens_per_s, "Rate of output tokens, of every bin.");
  v.required("held_bytes", t.held_bytes, "Keys and values that are held, by tier.");
  v.required("utilisation", t.utilisation,
             "0 to 1, of every bin: `gpu` (mean of the replicas) and channels.");
}

template <class V>
void describe(V& v, Is<ServingRecord> auto& s) {
  v.doc("serving", "Results of requests over time.");
  v.required("replicas", s.replicas, "Copies of the model.");
  v.required("prefill_replicas", s.prefill_replicas, "Of them, those that only prefill.");
  v.required("window_s", s.window_s, "Begin and end of the window that is measured.");
  v.required("counts", s.counts, "Requests, tokens and iterations.");
  v.required("kv_capacity", s.capacity, "Blocks of keys and values that fit.");
  v.required("kv_moves", s.moves, "Blocks that were moved, by purpose.");
  v.required("kv_tiers", s.tiers, "Keys and values by tier.");
  v.optional("priorities", s.priorities, "Latencies by priority, where requests have several.");
  v.required("timeline", s.timeline, "Load over time.");
  v.optional("unmeasured", s.unmeasured, "Metrics that could not be measured, and why.");
}

template <class V, class Record>
void describe(V& v, ProvenanceOf<Record> p) {
  Record& r = p.record;
  v.doc("provenance", "Where the record comes from.");
  v.required("tiersim_version", r.tiersim_version, "Version of the program.");
  v.required("run_id", r.run_id, "SHA-256 of the canonical configuration.");
  v.required("numbers", r.numbers, "Every number of the configuration that has a source.");
  v.optional("intervals", r.draws, "Where numbers that the run uses have intervals.");
}

template <class V, class Record>
void describe(V& v, SetupOf<Record> s) {
  Record& r = s.record;
  v.doc("setup", "The part of the configuration that reports need.");
  v.required("name", r.name, "Name of the scenario.");
  v.required("gpus", r.gpus, "GPUs of all replicas.");
  v.optional("ffn_gpus", r.ffn_gpus, "Further GPUs, which have the MLPs for all `gpus`.");
  v.required("batch", r.batch, "Sequences of one replica.");
  v.required("context", r.context, "Positions of a sequence.");
  v.required("sharers", r.sharers, "GPUs that share one instance, by device.");
}

template <class V, class Record>
void describe(V& v, MetricsOf<Record> m) {
  v.in_stores("setup", SetupOf{m.record}, "The configuration in short.");
  v.part("metrics", m.record.metrics, "By name; of one GPU, but throughput.");
}

template <class V, class Record>
void describe(V& v, ResultsOf<Record> all) {
  Record& r = all.record;
  v.doc("results", "The same bytes for the same configuration on any machine.");
  describe(v, MetricsOf{r});
  v.part("device", r.device, "One GPU's share of the model.");
  v.part("capacity_bytes", r.capacity_bytes, "Bytes that the step may fill, by tier.");
  v.part("footprint_bytes", r.footprint_bytes, "Bytes that it fills, by tier.");
  v.part("footprint_by_class_bytes", r.footprint_by_class, "The same by tier and tensor class.");
  v.part("traffic_bytes", r.traffic_bytes, "Payload by device, from all GPUs that share it.");
  v.part("traffic_by_class_bytes", r.traffic_by_class, "The same by device and tensor class.");
  v.part("moved_bytes", r.moved_bytes, "The same in the device's granules.");
  v.part("channel_bytes", r.channel_bytes, "Bytes on the wire or bus, by channel.");
  v.part("channel_utilisation", r.channel_utilisation,
         "Share of the capacity over the step, by channel.");
  v.part("phases", r.phases, "Time with an operation of that phase running, as run.");
  v.part("time_split", r.time_split, "A partition of the step, as run.");
  v.part("kernel_times", r.kernel_times, "Time of each kernel family.");
  v.part("bound_shares", r.bound_shares, "Waiting times on the critical path, largest first.");
  v.part("bounded_by", r.bounded_by,
         "The channel or part of the critical path that bounds the step.");
  v.part("costs_unstated", r.costs_unstated, "Devices whose energy or cost is left out.");
  v.optional("serving", r.serving, "Of a served workload.");
}

template <class V>
void describe(V& v, Is<RunRecord> auto& r) {
  v.doc("record",
        "The result of one run and where it comes from, as `tiersim run --json` writes it.");
  v.required("schema", Tag{kRecordSchema}, "The kind of this file.");
  v.required("provenance", ProvenanceOf{r}, "Version, run and sources.");
  v.required("config", JsonText{r.config},
             "The effective configuration, by scenario.schema.json or serving.schema.json.");
  v.required("results", ResultsOf{r}, "Metrics, bytes and times.");
}

}  // namespace tiersim::record
