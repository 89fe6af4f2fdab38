// tiersim trace stats FILE: what a trace of requests is like, and what a cache of each size would
// find of its prompts.
#include <algorithm>

#include <fmt/format.h>

#include "reports/serving/trace_tables.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/trace_options.hpp"
#include "workloads/serving/trace_statistics.hpp"

namespace tiersim::cli {
namespace {

struct TraceArguments {
  TraceInput input;
  double sampled = 1;
  std::optional<std::int64_t> block;
  std::string token_bytes;
  std::vector<std::string> capacities;
  std::string format = "text";
};

ExitCode stats(const TraceArguments& options) {
  const std::optional<TraceFormat> format = options.input.format();
  if (!(options.sampled > 0 && options.sampled <= 1))
    misuse("--sample", fmt::format("{} is not above 0 and at most 1", options.sampled));
  TraceTablesOptions tables{.capacities = capacities_of(options.capacities)};
  if (!options.token_bytes.empty()) tables.token_bytes = token_bytes_of(options.token_bytes);
  options.input.expect_readable();
  const auto trace = trace_statistics(options.input.file, format, options.sampled);
  if (!trace) throw_problems(options.input.file, trace.error());
  tables.block = block_of(options.block, trace->block);
  if (trace->with_blocks > 0 && trace->reuse.followed() == 0)
    misuse("--sample",
           fmt::format("of {} lookups none is of a block that is followed; a larger share",
                       trace->reuse.lookups()));
  if (options.format == "json")
    fmt::print("{}", trace_json(*trace, tables));
  else
    print_tables(trace_tables(*trace, tables), options.format);
  return ExitCode::ok;
}

void add_stats(Verb trace) {
  auto options = std::make_shared<TraceArguments>();
  Verb verb = trace.add("stats",
                        "Lengths, rate and bursts of a trace of requests, and the share of "
                        "its prompts that a cache of each size finds");
  options->input.add_to(verb);
  verb.option(
          "--sample", options->sampled,
          "Share of the blocks that is followed; less takes less memory, and the shares have an "
          "error")
      .type("SHARE")
      .show_default();
  verb.option("--block", options->block,
              "Tokens of a named block; by default what the file states, or 512")
      .between(1, 1'000'000);
  verb.option(
          "--token-bytes", options->token_bytes,
          "Keys and values of a token, as `tiersim list models` has them, for capacities in bytes")
      .type("BYTES");
  verb.option("--blocks", options->capacities,
              "Capacities of the cache in blocks; powers of two by default")
      .type("N,N,...")
      .comma_separated();
  add_format(verb, options->format);
  verb.on_chosen([options] { return stats(*options); });
}

}  // namespace

void add_trace(Verb program) {
  Verb trace =
      program.add("trace", "Ask what is in a trace of requests, fit a workload to it, or make one");
  trace.needs_verb();
  add_stats(trace);
  add_trace_cache(trace);
  add_trace_fit(trace);
  add_trace_make(trace);
}

}  // namespace tiersim::cli
