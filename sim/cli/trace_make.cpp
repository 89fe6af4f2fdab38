// tiersim trace make SPEC.yaml: a trace of a serving file's workload, without serving it.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/trace_file.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/runner/load.hpp"
#include "workloads/sessions/nominal_server.hpp"

namespace tiersim::cli {
namespace {

struct MakeArguments {
  std::string spec;
  std::vector<std::string> set;
  AnswerOptions answer;
  std::int64_t requests = 10'000'000;
  std::optional<std::int64_t> seed;
  std::string format = "mooncake";
  std::string output = "-";
};

constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;

// Lines of a trace. Blocks are numbered from 0 in the order in which prompts name them.
class Lines {
 public:
  Lines(std::int64_t block, bool csv) : block_(block), csv_(csv) {}

  std::string head() const {
    return csv_ ? "arrival_ms,input_tokens,output_tokens,session,agent,turn\n" : "";
  }
  std::string line(const Request& request) {
    const std::int64_t ms = request.arrival.time_since_epoch().count() / kPicosecondsPerMillisecond;
    if (csv_) {
      const SessionPlace& place = request.session;
      const std::string in_session =
          place.session < 0 ? ",,"
                            : fmt::format("{},{},{}", place.session, place.agent, place.turn);
      return fmt::format("{},{},{},{}\n", ms, request.input_tokens, request.output_tokens,
                         in_session);
    }
    const auto whole =
        std::min(request.prefix.size(), static_cast<std::size_t>(request.input_tokens / block_));
    std::vector<std::string> ids;
    for (std::size_t n = 0; n < whole; ++n) {
      const auto id = ids_.emplace(request.prefix[n], ids_.size()).first->second;
      ids.push_back(std::to_string(id));
    }
    return fmt::format(
        "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": [{}]}}\n",
        ms, request.input_tokens, request.output_tokens, join(ids));
  }

 private:
  std::int64_t block_;
  bool csv_;
  std::unordered_map<std::uint64_t, std::size_t> ids_;  // for lookup only
};

ExitCode make(const MakeArguments& arguments) {
  const AnswerTime time = arguments.answer.time();
  const ServingFile file = load_serving(arguments.spec, arguments.set);
  const ServingConfig& config = file.config;
  const auto seed = static_cast<std::uint64_t>(arguments.seed.value_or(config.seed));
  auto source = make_request_source(config.workload, seed);
  if (!source)
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: {}", arguments.spec, source.error())));
  Lines lines(config.workload.prefix_block, arguments.format == "csv");
  TraceFile out(arguments.output);
  const TraceSink sink = out.sink();
  sink(lines.head());
  try {
    replay(**source, time, arguments.requests,
           [&](const Request& request) { sink(lines.line(request)); });
  } catch (const SourceFailure& failure) {
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: {}", arguments.spec, failure.what())));
  } catch (const UnitOverflow& overflow) {
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: the trace is beyond what can be counted: "
                                        "{}",
                                        arguments.spec, overflow.what())));
  }
  out.commit();
  return ExitCode::ok;
}

}  // namespace

void add_trace_make(Verb trace) {
  auto arguments = std::make_shared<MakeArguments>();
  Verb verb = trace.add("make", "Write the requests of a serving file's workload as a trace");
  verb.option("SPEC", arguments->spec, "Serving file").required();
  verb.option("--set", arguments->set, "Override a setting (repeatable)").type(kSettingType);
  verb.option("--requests", arguments->requests, "The first so many requests; by default all")
      .between(1, 10'000'000);
  verb.option("--seed", arguments->seed, "By default that of the file");
  verb.option("--form", arguments->format, "Form of the lines")
      .check(
          [](const std::string& text) {
            return text == "mooncake" || text == "csv"
                       ? ""
                       : fmt::format("'{}' is none of mooncake and csv", text);
          },
          "mooncake|csv")
      .show_default();
  arguments->answer.add_to(verb);
  verb.option("-o,--output", arguments->output, "File to write; - for the terminal; .gz is packed")
      .type("FILE")
      .show_default();
  verb.on_chosen([arguments] { return make(*arguments); });
}

}  // namespace tiersim::cli
