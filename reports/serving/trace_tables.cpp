#include "reports/serving/trace_tables.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/display.hpp"
#include "sim/record/table_json.hpp"

namespace tiersim {
namespace {

Cell rounded(double value, int digits) {
  return {Cell::Value(value), fmt::format("{:.{}f}", value, digits)};
}

Table requests_table(const TraceStatistics& trace) {
  Table out{.id = "requests",
            .title = "Requests",
            .columns = {{"requests"},
                        {"duration", Align::right, "duration_s", "", "", "s"},
                        {"requests/s", Align::right, "requests_per_s", "", "", "1/s"},
                        {"variation of gaps", Align::right, "gap_variation"}},
            .notes = {"The variation is the standard deviation over the mean; that of a Poisson "
                      "process is 1."}};
  if (!trace.timed) {
    out.notes = {
        fmt::format("The file does not say when its {} sessions begin: they are looked at "
                    "one after another.",
                    trace.sessions)};
    out.add({trace.requests, Cell(), Cell(), Cell()});
  } else {
    const Cell rate = trace.seconds > 0
                          ? rounded(static_cast<double>(trace.requests) / trace.seconds, 3)
                          : Cell();
    out.add({trace.requests, Cell::quantity(trace.seconds, "s"), rate,
             rounded(trace.gap_variation, 2)});
  }
  if (trace.left_out > 0)
    out.notes.push_back(
        fmt::format("{} more have no answer, and are left out everywhere.", trace.left_out));
  return out;
}

Table bursts_table(const TraceStatistics& trace) {
  Table out{.id = "bursts",
            .title = "Requests in windows of time",
            .columns = {{"window", Align::right, "window_s", "", "", "s"},
                        {"windows"},
                        {"mean"},
                        {"most"},
                        {"variance over mean", Align::right, "dispersion"}},
            .notes = {"Variance over mean is 1 for a Poisson process, and larger where requests "
                      "come in bursts."}};
  for (const WindowCounts& window : trace.windows)
    if (window.windows > 0)
      out.add({Cell::quantity(window.seconds, "s"), window.windows, rounded(window.mean, 2),
               window.most, rounded(window.dispersion, 2)});
  return out;
}

Table lengths_table(const TraceStatistics& trace) {
  Table out{
      .id = "lengths",
      .title = "Tokens of a request",
      .columns = {
          {"tokens", Align::left}, {"mean"}, {"p50"}, {"p90"}, {"p99"}, {"most"}, {"variation"}}};
  const auto add = [&](const char* name, const LengthCounts& lengths) {
    out.add({name, rounded(lengths.mean(), 1), lengths.quantile(0.5), lengths.quantile(0.9),
             lengths.quantile(0.99), lengths.most(), rounded(lengths.variation(), 2)});
  };
  add("input", trace.input);
  add("output", trace.output);
  return out;
}

Table reuse_table(const TraceStatistics& trace, const TraceTablesOptions& options) {
  const HitRate most = trace.reuse.most();
  Table out{.id = "reuse",
            .title = "Blocks of prompts",
            .columns = {{"prompts with blocks", Align::right, "prompts"},
                        {"lookups"},
                        {"distinct blocks", Align::right, "distinct"},
                        {"found without a limit", Align::right, "most_found"}},
            .notes = {fmt::format("A block has {} tokens. A prompt looks up all of its blocks, and "
                                  "finds those that an earlier prompt had.",
                                  options.block)}};
  out.add(
      {trace.with_blocks, trace.reuse.lookups(), trace.reuse.distinct(), percent_cell(most.rate)});
  return out;
}

std::vector<std::int64_t> capacities_of(const TraceStatistics& trace,
                                        const TraceTablesOptions& options) {
  std::vector<std::int64_t> out = options.capacities;
  if (!out.empty()) return out;
  const std::int64_t all = trace.reuse.distinct();
  constexpr std::int64_t kSmallest = 64;
  for (std::int64_t blocks = kSmallest; blocks < all; blocks *= 2) out.push_back(blocks);
  out.push_back(all);
  return out;
}

Table curve_table(const TraceStatistics& trace, const TraceTablesOptions& options) {
  Table out{.id = "lru",
            .title = "Share of the lookups that an LRU cache finds, by its capacity",
            .columns = {{"blocks"}, {"tokens"}}};
  if (options.token_bytes) out.columns.push_back({"bytes", Align::right, "bytes", "", "", "B"});
  out.columns.push_back({"found", Align::right, "hit_rate"});
  const bool is_sampled = trace.reuse.is_sampled();
  if (is_sampled) {
    out.columns.push_back({"standard error", Align::right, "error"});
    out.notes.emplace_back(
        "A part of the blocks was followed (SHARDS); the error is that of "
        "eight parts of it.");
  }
  for (const std::int64_t blocks : capacities_of(trace, options)) {
    const HitRate found = trace.reuse.at(blocks);
    const std::int64_t tokens = blocks * options.block;
    Row row{blocks, tokens};
    if (options.token_bytes)
      row.push_back(Cell::quantity(
          static_cast<double>(tokens) * static_cast<double>(options.token_bytes->in_base()), "B"));
    row.push_back(percent_cell(found.rate));
    if (is_sampled) row.push_back(percent_cell(found.error));
    out.add(std::move(row));
  }
  return out;
}

}  // namespace

Cell percent_cell(double share) {
  return {Cell::Value(share), fmt::format("{:.1f} %", 100 * share)};
}

std::vector<Table> trace_tables(const TraceStatistics& trace, const TraceTablesOptions& options) {
  std::vector<Table> out{requests_table(trace), bursts_table(trace), lengths_table(trace)};
  if (out[1].rows.empty()) out.erase(out.begin() + 1);
  if (trace.with_blocks == 0) return out;
  out.push_back(reuse_table(trace, options));
  out.push_back(curve_table(trace, options));
  return out;
}

std::string trace_json(const TraceStatistics& trace, const TraceTablesOptions& options) {
  nlohmann::ordered_json out;
  for (const Table& table : trace_tables(trace, options))
    out[table.id] = nlohmann::ordered_json::parse(to_json(table));
  return out.dump(2) + '\n';
}

}  // namespace tiersim
