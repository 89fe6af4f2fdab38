// tiersim trace fit FILE: the laws of a synthetic workload that come closest to a trace.
#include <memory>

#include <fmt/format.h>

#include "reports/serving/trace_fit_text.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace {

struct FitArguments {
  TraceInput input;
  AnswerOptions answer;
  std::int64_t block = 512;
  std::uint64_t seed = 1;
  bool json = false;
};

ExitCode fit(const FitArguments& arguments) {
  const auto format = arguments.input.format();
  const TraceFitOptions options{
      .block = arguments.block, .answer = arguments.answer.time(), .seed = arguments.seed};
  arguments.input.expect_readable();
  try {
    const auto fitted = fit_trace(arguments.input.file, format, options);
    if (!fitted) throw_problems(arguments.input.file, fitted.error());
    fmt::print("{}", arguments.json ? fit_json(*fitted)
                                    : fitted_yaml(*fitted, options, arguments.input.file));
  } catch (const UnitOverflow& overflow) {
    throw Failure(
        ExitCode::bad_config,
        printable(fmt::format("{}:1:1: error: its times are beyond what can be counted: {}",
                              arguments.input.file, overflow.what())));
  }
  return ExitCode::ok;
}

}  // namespace

void add_trace_fit(Verb trace) {
  auto arguments = std::make_shared<FitArguments>();
  Verb verb = trace.add("fit",
                        "Print a serving file whose workload is like the trace, and how far off "
                        "it is");
  arguments->input.add_to(verb);
  verb.option("--block", arguments->block, "Tokens of a named block")
      .between(1, 1'000'000)
      .show_default();
  arguments->answer.add_to(verb);
  verb.option("--seed", arguments->seed, "Of the trace that the fit is compared by").show_default();
  verb.flag("--json", arguments->json, "Print the error of the fit alone, as JSON");
  verb.on_chosen([arguments] { return fit(*arguments); });
}

}  // namespace tiersim::cli
