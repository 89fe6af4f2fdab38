#include "sim/cli/trace_options.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {

void misuse(const std::string& option, const std::string& problem) {
  throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: {}: {}", option, problem)));
}

// "arrival=ts": which column of the file holds what.
std::optional<TraceFormat> TraceInput::format() const {
  if (columns.empty()) {
    if (!time.empty()) misuse("--time", "is of the column of --columns that holds the arrivals");
    return std::nullopt;
  }
  TraceFormat out;
  const std::map<std::string, std::string*> known{{"arrival", &out.columns.arrival},
                                                  {"input", &out.columns.input},
                                                  {"output", &out.columns.output}};
  for (const std::string& word : columns) {
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
  if (time.empty()) return out;
  const auto unit = std::ranges::find(kTraceTimeNames, time);
  if (unit == kTraceTimeNames.end())
    misuse("--time", fmt::format("'{}' is none of {}", time,
                                 join(std::vector<std::string>(kTraceTimeNames.begin(),
                                                               kTraceTimeNames.end()))));
  out.time = static_cast<TraceTime>(unit - kTraceTimeNames.begin());
  return out;
}

void TraceInput::add_to(Verb verb) {
  verb.option(
          "FILE", file,
          "Trace as Azure or Mooncake published theirs, or any CSV or JSON lines with --columns; "
          ".gz is unpacked")
      .required();
  verb.option("--columns", columns,
              "Columns of a file of your own: arrival=NAME input=NAME output=NAME")
      .type("PART=NAME")
      .takes(1, 3);
  verb.option("--time", time, "Unit of these arrivals: iso, s, ms, us or ns").type("UNIT");
}

void TraceInput::expect_readable() const {
  if (const TraceLines lines(file); !lines.error().empty())
    throw Failure(
        ExitCode::bad_config,
        printable(fmt::format("{}:1:1: error: cannot read the trace: {}", file, lines.error())));
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

Bytes token_bytes_of(const std::string& text) {
  const auto bytes = parse_quantity<Bytes>(text);
  if (!bytes || *bytes <= Bytes{})
    misuse("--token-bytes", fmt::format("'{}' is no number of bytes, such as '128 KiB'", text));
  return *bytes;
}

std::int64_t block_of(const std::optional<std::int64_t>& given, std::int64_t stated) {
  constexpr std::int64_t kMooncake = 512;
  if (given && stated > 0 && *given != stated)
    misuse("--block", fmt::format("is {}, and the file has blocks of {} tokens", *given, stated));
  return given ? *given : stated > 0 ? stated : kMooncake;
}

void throw_problems(const std::string& file, const TraceProblems& problems) {
  Diagnostics diagnostics;
  for (const ImportProblem& problem : problems)
    diagnostics.report(
        {problem.where.value_or(Location{.file = file}), problem.message, problem.hint});
  throw_if_any(diagnostics);
  std::terminate();  // a problem was reported
}

void AnswerOptions::add_to(Verb verb) {
  verb.option("--first-token", first_token,
              "Time from a request to the first token of its answer, as nothing serves it here")
      .type("TIME")
      .show_default();
  verb.option("--token-time", token, "Time of each further token").type("TIME").show_default();
}

AnswerTime AnswerOptions::time() const {
  const auto parsed = [](const char* option, const std::string& text) {
    const auto time = parse_quantity<Duration>(text);
    constexpr Duration kDay(std::int64_t{86'400} * 1'000'000'000'000);
    if (!time || *time < Duration{} || *time > kDay)
      misuse(option, fmt::format("'{}' is no time of a day or less, such as '20 ms'", text));
    return *time;
  };
  return {parsed("--first-token", first_token), parsed("--token-time", token)};
}

}  // namespace tiersim::cli
