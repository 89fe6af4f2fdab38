#include "kernels/campaign/documents.hpp"

#include <stdexcept>

namespace tiersim::kernels::bench {
namespace {

Shape device_shape() {
  return object({
      {"kind", choice({"cuda", "emulator"}, "emulator: times say nothing of any device")},
      {"name", text("as the driver gives it")},
      {"compute_capability", text("9.0; empty on the emulator")},
      {"multiprocessors", integer(0, "0: not known")},
      {"l2_bytes", integer(1, "")},
      {"memory_bytes", integer(1, "")},
      {"driver", text("")},
      {"runtime", text("CUDA runtime")},
      {"pcie_generation", integer(0, "in use when the stage began; 0: not known")},
      {"pcie_width", integer(0, "lanes; 0: not known")},
      {"sm_mhz_max", number(0, "")},
      {"memory_mhz_max", number(0, "")},
  });
}

Shape context_shape() {
  const Shape peak = object({
      {"name", text("memory, l2, link_read, link_write, flops.<dtype>")},
      {"value", positive("per second")},
      {"unit", choice({"B/s", "FLOP/s"})},
      {"hard", boolean("true: nothing may beat it; false: a ceiling measured before")},
      {"class", choice({"specification", "measured", "assumed"})},
      {"source", text("")},
  });
  const Shape build = object({
      {"commit", text("of the sources; 'unknown' outside a checkout")},
      {"id", text("hash of the sources and flags: what must be equal between stages")},
      {"compiler", text("")},
      {"nvcc", text("empty on the emulator")},
  });
  return object({
      {"date", text("UTC, ISO 8601")},
      {"host_name", text("")},
      {"executable", text("")},
      {"num_cpus", integer(1, "")},
      {"library_build_type", choice({"release"})},
      {"stage", choice({"conformance", "correctness", "ceilings", "timing", "ceilings_again",
                        "composition"})},
      {"class", choice({"measured", "none"}, "none: a dry run, no measurement of anything")},
      {"sizes", choice({"toy", "timed"})},
      {"seed", integer(0, "of inputs and order")},
      {"build", build},
      {"device", device_shape()},
      {"peaks", array_of(peak, "what a timing is held against")},
  });
}

Shape interval_shape(const std::string& what) {
  return object(
      {
          {"median_ns", number(-1e18, "")},
          {"low_ns", number(-1e18, "order-statistic interval of the median")},
          {"high_ns", number(-1e18, "")},
          {"covers", number(0, "probability that the interval holds the median; .95 wanted")},
          {"percentiles_ns", map_of(number(-1e18, ""), "min p5 p25 p50 p75 p90 p95 p99 max")},
      },
      what);
}

Shape work_shape() {
  return object({
      {"read_bytes", integer(0, "distinct bytes of device memory")},
      {"written_bytes", integer(0, "")},
      {"link_read_bytes", integer(0, "of pinned host memory, over the link")},
      {"link_written_bytes", integer(0, "")},
      {"requested_bytes", integer(0, "repeats included")},
      {"flops", integer(0, "that the result needs")},
      {"issued_flops", integer(0, "with padding")},
  });
}

Shape launch_shape() {
  return object({
      {"kernel", text("")},
      {"blocks", integer(1, "")},
      {"threads", integer(1, "of a block")},
      {"shared_bytes", integer(0, "dynamic, of a block")},
      {"bytes_in_flight_per_block", integer(0, "by design; 0: not designed")},
      {"known", boolean("false on the emulator: the members below are then 0")},
      {"registers", integer(0, "of a thread")},
      {"local_bytes", integer(0, "of a thread: spills and arrays")},
      {"static_shared_bytes", integer(0, "")},
      {"blocks_per_multiprocessor", integer(0, "")},
      {"waves", number(0, "blocks over those that run at once")},
      {"tail", number(0, "share of the last wave that is filled; 1: no tail")},
  });
}

Shape clocks_shape() {
  return object({
      {"known", boolean("false: the members below are then 0")},
      {"sm_mhz", number(0, "")},
      {"memory_mhz", number(0, "")},
      {"throttle_reasons", integer(0, "bits of NVML's clocks event reasons")},
      {"temperature_c", number(0, "")},
      {"power_w", number(0, "")},
  });
}

Shape agreement_shape() {
  return object({
      {"error", number(0, "worst over outputs against float64; indices: mismatches")},
      {"tolerance", number(0, "")},
      {"compared", integer(0, "outputs looked at")},
  });
}

std::vector<Member> google_benchmark_members() {
  return {
      {"name", text("case/temperature/process:n")},
      {"run_name", text("case/temperature")},
      {"run_type", choice({"iteration"})},
      {"repetitions", integer(1, "processes")},
      {"repetition_index", integer(0, "process")},
      {"threads", integer(1, "")},
      {"iterations", integer(1, "rounds")},
      {"real_time", positive("median of a dependent node, by device events")},
      {"cpu_time", number(0, "host time of a round")},
      {"time_unit", choice({"ns"})},
  };
}

Shape timing_shape() {
  std::vector<Member> members = google_benchmark_members();
  const Shape point = object({
      {"nodes", integer(1, "of the graph")},
      {"median_ns", number(0, "of a replay")},
      {"min_ns", number(0, "")},
      {"max_ns", number(0, "")},
  });
  const std::vector<Member> more = {
      {"case", text("name of the case")},
      {"family", text("")},
      {"kernel", text("")},
      {"variant", text("")},
      {"dtype", text("of the operands")},
      {"shape", map_of(integer(0, ""), "sizes by name")},
      {"baseline", boolean("a library's kernel: never fitted")},
      {"temperature", choice({"cold", "warm"}, "cold: rotated over five times L2")},
      {"graph", boolean("false: enqueued one after another, since graphs cannot hold it")},
      {"rotation_sets", integer(1, "")},
      {"rotation_bytes", integer(0, "")},
      {"flushed", boolean("L2 was read over between rounds")},
      {"seed", integer(0, "")},
      {"work", work_shape()},
      {"launches", array_of(launch_shape(), "of one enqueue")},
      {"points", array_of(point, "by nodes of the graph")},
      {"dependent_node", interval_shape("slope over the nodes, a round each")},
      {"launch", interval_shape("intercept over the nodes, a round each")},
      {"agreement", agreement_shape()},
      {"clocks_before", clocks_shape()},
      {"clocks_after", clocks_shape()},
      {"held_out", boolean("the fit must not see it")},
      {"over_budget", boolean("took fewer rounds than planned at the least")},
  };
  members.insert(members.end(), more.begin(), more.end());
  return object(std::move(members));
}

Shape check_shape() {
  return object({
      {"name", text("")},
      {"status", choice({"agrees", "disagrees"})},
      {"agreement", agreement_shape()},
      {"seconds", number(0, "")},
  });
}

Shape composition_shape() {
  std::vector<Member> members = google_benchmark_members();
  const Shape part = object({{"case", text("")}, {"count", integer(1, "launches of it")}});
  const Shape prediction =
      object({{"median_ns", positive("")}, {"low_ns", positive("")}, {"high_ns", positive("")}});
  const std::vector<Member> more = {
      {"experiment", choice({"F1", "F2", "F3", "F4"})},
      {"parameters", map_of(integer(0, ""), "")},
      {"labels", array_of(text(""), "what the number must not be taken for")},
      {"work", work_shape()},
      {"dtype", text("")},
      {"parts", array_of(part, "cases whose medians make the sum")},
      {"total", interval_shape("of the whole sequence")},
      {"sum_of_medians_ns", number(0, "baseline; 0: a part was not timed")},
      {"roofline_ns", number(0, "baseline: data-sheet floor of the parts, one after another")},
      {"prediction", prediction, false},
      {"clocks_before", clocks_shape()},
      {"clocks_after", clocks_shape()},
  };
  members.insert(members.end(), more.begin(), more.end());
  return object(std::move(members));
}

}  // namespace

const char* schema_of_stage(const std::string& stage) {
  if (stage == "conformance" || stage == "correctness") return kChecksSchema;
  if (stage == "ceilings" || stage == "timing" || stage == "ceilings_again") return kTimingsSchema;
  if (stage == "composition") return kCompositionSchema;
  throw std::invalid_argument("no stage '" + stage + "'");
}

Shape document_shape(const std::string& schema) {
  Shape entry;
  if (schema == kTimingsSchema) {
    entry = timing_shape();
  } else if (schema == kChecksSchema) {
    entry = check_shape();
  } else if (schema == kCompositionSchema) {
    entry = composition_shape();
  } else {
    throw std::invalid_argument("unknown schema '" + schema + "'");
  }
  const Shape refused = object({{"name", text("")}, {"reason", text("")}});
  return object({
      {"schema", choice({schema})},
      {"context", context_shape()},
      {"benchmarks", array_of(std::move(entry), "")},
      {"refused", array_of(refused, "cases without a result, and why")},
  });
}

std::string shipped_schema() {
  Json any{Json::Array{}};
  Json context;
  context.set("$ref", "#/$defs/context");
  for (const char* schema : {kTimingsSchema, kChecksSchema, kCompositionSchema}) {
    Json document = json_schema(document_shape(schema));
    Json properties = document.at("properties");
    properties.set("context", context);
    any.push_back(document.set("properties", std::move(properties)));
  }
  Json shared;
  shared.set("context", json_schema(context_shape()));
  Json out;
  out.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.set("title",
          "tiersim kernel campaign: kernels/campaign.sh writes it, tiersim calibrate reads it");
  out.set("anyOf", std::move(any));
  out.set("$defs", std::move(shared));
  return out.pretty(200);
}

}  // namespace tiersim::kernels::bench
