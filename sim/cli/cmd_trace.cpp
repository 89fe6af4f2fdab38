// tiersim trace stats FILE: what a trace of requests is like, and what a cache of each size would
// find of its prompts.
#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "reports/serving/trace_tables.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/runner/load.hpp"
#include "workloads/serving/trace_statistics.hpp"

namespace tiersim::cli {
namespace {

struct TraceArguments {
  std::string file;
  std::vector<std::string> columns;
  std::string time;
  double sampled = 1;
  std::int64_t block = 512;
  std::string token_bytes;
  std::vector<std::string> capacities;
  std::string format = "text";
};

[[noreturn]] void misuse(const std::string& option, const std::string& problem) {
  throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: {}: {}", option, problem)));
}

// "arrival=ts": which column of the file holds what.
std::optional<TraceFormat> format_of(const TraceArguments& options) {
  if (options.columns.empty()) {
    if (!options.time.empty())
      misuse("--time", "is of the column of --columns that holds the arrivals");
    return std::nullopt;
  }
  TraceFormat out;
  const std::map<std::string, std::string*> known{{"arrival", &out.columns.arrival},
                                                  {"input", &out.columns.input},
                                                  {"output", &out.columns.output}};
  for (const std::string& word : options.columns) {
    const std::size_t equals = word.find('=');
    const auto column = known.find(word.substr(0, equals));
    if (equals == std::string::npos || column == known.end() || equals + 1 == word.size())
      misuse("--columns",
             fmt::format("'{}' is none of arrival=NAME, input=NAME and output=NAME", word));
    if (!column->second->empty())
      misuse("--columns", fmt::format("{} stands twice", column->first));
    *column->second = word.substr(equals + 1);
  }
  for (const auto& [name, column] : known)
    if (column->empty()) misuse("--columns", fmt::format("{}=NAME is missing", name));
  if (options.time.empty()) return out;
  const auto time = std::ranges::find(kTraceTimeNames, options.time);
  if (time == kTraceTimeNames.end())
    misuse("--time", fmt::format("'{}' is none of {}", options.time,
                                 join(std::vector<std::string>(kTraceTimeNames.begin(),
                                                               kTraceTimeNames.end()))));
  out.time = static_cast<TraceTime>(time - kTraceTimeNames.begin());
  return out;
}

std::vector<std::int64_t> capacities_of(const std::vector<std::string>& words) {
  std::vector<std::int64_t> out;
  for (const std::string& word : words) {
    std::int64_t blocks = 0;
    const char* end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, blocks);
    constexpr std::int64_t kMost = 1'000'000'000'000;
    if (error != std::errc() || at != end || blocks < 1 || blocks > kMost)
      misuse("--blocks", fmt::format("'{}' is no whole number from 1 to {}", word, kMost));
    out.push_back(blocks);
  }
  return out;
}

ExitCode stats(const TraceArguments& options) {
  const std::optional<TraceFormat> format = format_of(options);
  if (!(options.sampled > 0 && options.sampled <= 1))
    misuse("--sample", fmt::format("{} is not above 0 and at most 1", options.sampled));
  TraceTablesOptions tables{.block = options.block,
                            .capacities = capacities_of(options.capacities)};
  if (!options.token_bytes.empty()) {
    const auto bytes = parse_quantity<Bytes>(options.token_bytes);
    if (!bytes || *bytes <= Bytes{})
      misuse("--token-bytes",
             fmt::format("'{}' is no number of bytes, such as '128 KiB'", options.token_bytes));
    tables.token_bytes = *bytes;
  }
  if (const TraceLines lines(options.file); !lines.error().empty())
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: cannot read the trace: {}", options.file,
                                        lines.error())));
  const auto trace = trace_statistics(options.file, format, options.sampled);
  if (!trace) {
    Diagnostics diagnostics;
    for (const ImportProblem& problem : trace.error())
      diagnostics.report(
          {problem.where.value_or(Location{.file = options.file}), problem.message, problem.hint});
    throw_if_any(diagnostics);
  }
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
  verb.option(
          "FILE", options->file,
          "Trace as Azure or Mooncake published theirs, or any CSV or JSON lines with --columns; "
          ".gz is unpacked")
      .required();
  verb.option("--columns", options->columns,
              "Columns of a file of your own: arrival=NAME input=NAME output=NAME")
      .type("PART=NAME")
      .takes(1, 3);
  verb.option("--time", options->time, "Unit of these arrivals: iso, s, ms, us or ns").type("UNIT");
  verb.option(
          "--sample", options->sampled,
          "Share of the blocks that is followed; less takes less memory, and the shares have an "
          "error")
      .type("SHARE")
      .show_default();
  verb.option("--block", options->block, "Tokens of a named block")
      .between(1, 1'000'000)
      .show_default();
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
  Verb trace = program.add("trace", "Ask what is in a trace of requests");
  trace.needs_verb();
  add_stats(trace);
}

}  // namespace tiersim::cli
