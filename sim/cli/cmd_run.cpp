// tiersim run CONFIG: one simulation of a step or a server, with a summary for people, --json for
// programs, --trace for Perfetto and --figure for a server over time.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "reports/serving/timeline_figure.hpp"
#include "reports/summary/iteration_text.hpp"
#include "reports/summary/run_summary.hpp"
#include "reports/summary/serving_summary.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/trace_file.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/run_file.hpp"
#include "sim/serving/explain.hpp"
#include "sim/trace/request_rows.hpp"
#include "sim/trace/serving_trace.hpp"
#include "sim/trace/step_trace.hpp"

namespace tiersim::cli {
namespace {

// Limit that Perfetto handles with ease: some 200 MB of JSON.
constexpr std::int64_t kTraceEvents = 2'000'000;
constexpr std::int64_t kTraceKernels = 4;  // iterations of each kind with their kernels

struct RunArguments {
  std::string config;
  std::vector<std::string> set;
  std::string output;
  std::string trace;
  std::optional<std::int64_t> trace_events;
  std::optional<std::int64_t> trace_kernels;
  std::string figure;
  std::string requests;
  std::int64_t threads = 0;  ///< 0: one for each core
  bool json = false;
  bool explain = false;
};

// Refuses an option that the kind of file does not have.
void expect_no(const std::string& option, const std::string& value, const std::string& reason) {
  if (!value.empty())
    throw Failure(ExitCode::usage, fmt::format("tiersim: error: {}: {}", option, reason));
}

// Prints the record and the other requested outputs. If a file goes to stdout, nothing else does.
void print(const RunArguments& options, const RunRecord& record,
           std::string (*summary)(const RunRecord&), bool file_on_stdout) {
  if (!options.output.empty()) write_file(options.output, to_json(record));
  if (options.output == "-" || file_on_stdout) return;
  fmt::print("{}", options.json ? to_json(record) : summary(record));
}

int threads_of(const RunArguments& options) {
  if (options.threads > 0) return static_cast<int>(options.threads);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

// Runs a server with the file of one row a request, if it is asked for; `listener` may be null.
RunRecord run_with_rows(const RunArguments& options, const RunnableFile& file,
                        ServingListener* listener) {
  if (options.requests.empty())
    return run_server(file, listener, listener == nullptr ? threads_of(options) : 1);
  TraceFile out(options.requests);
  RequestRows rows(out.sink(), listener);
  RunRecord record = run_server(file, &rows);
  out.commit();
  return record;
}

RunRecord run_traced(const RunArguments& options, const RunnableFile& file) {
  if (options.trace.empty()) return run_with_rows(options, file, nullptr);
  const IterationKernels kernels(std::get<ServingConfig>(file.config));
  TraceFile out(options.trace);
  ServingTrace trace(out.sink(), options.trace_events.value_or(kTraceEvents));
  if (kernels.known())
    trace.show_kernels(kernels, options.trace_kernels.value_or(kTraceKernels));
  else if (options.trace_kernels)
    throw Failure(ExitCode::usage,
                  "tiersim: error: --trace-kernels: the iterations of this server have no row of "
                  "kernels (early exit, an encoder, pipeline stages, or operations that overlap)");
  RunRecord record = run_with_rows(options, file, &trace);
  out.commit();
  if (const auto& cut = trace.cut())
    fmt::print(stderr,
               "tiersim: the trace ends at {:.6g} s, after {} events (--trace-events): {} "
               "iterations and {} requests that came later are left out\n",
               to_seconds(cut->time_since_epoch()), trace.events(), trace.iterations_left_out(),
               trace.requests_left_out());
  return record;
}

// What --explain prints after the summary.
ExitCode print_explained(const RunArguments& options, const RunnableFile& file) {
  const auto& config = std::get<ServingConfig>(file.config);
  if (config.early_exit || config.scenario.model.encoder)
    throw Failure(
        ExitCode::usage,
        "tiersim: error: --explain: iterations with early exit or an encoder have no mean");
  IterationAverages averages(config);
  const RunRecord record = run_with_rows(options, file, &averages);
  if (!options.figure.empty()) write_figure(options.figure, serving_timeline_svg(record));
  print(options, record, serving_summary_text, options.figure == "-");
  fmt::print("\n{}", iterations_text(explain(config, averages)));
  return ExitCode::ok;
}

ExitCode print_server(const RunArguments& options, const RunnableFile& file) {
  if (options.explain) return print_explained(options, file);
  const RunRecord record = run_traced(options, file);
  if (!options.figure.empty()) write_figure(options.figure, serving_timeline_svg(record));
  print(options, record, serving_summary_text,
        options.figure == "-" || options.trace == "-" || options.requests == "-");
  return ExitCode::ok;
}

ExitCode print_step(const RunArguments& options, const RunnableFile& file) {
  if (options.trace_events || options.trace_kernels)
    throw Failure(ExitCode::usage,
                  fmt::format("tiersim: error: {}: is of a server over time; a step is shown whole",
                              options.trace_events ? "--trace-events" : "--trace-kernels"));
  expect_no("--figure", options.figure,
            "is of a server over time; a single step is drawn by --trace FILE.json");
  expect_no("--requests", options.requests, "is of a server; a step has no requests");
  if (options.explain)
    expect_no("--explain", "yes", "is of a server; the summary of a step says where its time goes");
  if (options.threads > 0)
    throw Failure(ExitCode::usage,
                  "tiersim: error: --threads: is of a server with several replicas; a step is one "
                  "simulation");
  const Simulation result = run_step(file, options.config, options.set);
  if (!options.trace.empty()) {
    TraceFile out(options.trace);
    write_trace({&result, 1}, out.sink());
    out.commit();
  }
  print(options, result.record, summary_text, options.trace == "-");
  return ExitCode::ok;
}

ExitCode run(const RunArguments& options) {
  if (options.trace_events && options.trace.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --trace-events: needs --trace FILE");
  if (options.trace_kernels && options.trace.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --trace-kernels: needs --trace FILE");
  if (options.explain && (options.json || !options.trace.empty() || options.output == "-"))
    throw Failure(ExitCode::usage,
                  "tiersim: error: --explain: prints tables, and not with --json, --trace or -o -");
  if (options.explain && options.requests == "-")
    throw Failure(ExitCode::usage,
                  "tiersim: error: --explain: prints tables, and not with "
                  "--requests -");
  const std::vector<std::string> outputs{options.trace, options.figure, options.output,
                                         options.requests};
  if (std::ranges::count(outputs, "-") > 1)
    throw Failure(ExitCode::usage, "tiersim: error: one file only can go to stdout");
  expect_figure(options.figure, {options.config});
  for (const std::string& file : outputs) {
    expect_writable(file);
    expect_not_a_source(file, {options.config});
  }
  const auto file = load_runnable(options.config, options.set);
  return std::holds_alternative<ServingConfig>(file.config) ? print_server(options, file)
                                                            : print_step(options, file);
}

}  // namespace

void add_run(Verb program) {
  auto options = std::make_shared<RunArguments>();
  Verb verb = program.add("run", "Simulate one step of a model, or a server under load");
  verb.option("CONFIG", options->config,
              "Scenario or serving file (schema tiersim.scenario/v1, tiersim.serving/v1)")
      .required();
  verb.option("--set", options->set, "Override a setting of the file: a.b=value (repeatable)")
      .type(kSettingType);
  verb.option("-o,--output", options->output, "Also write the record to this file").type("FILE");
  verb.option("--trace", options->trace,
              "Write a timeline for Perfetto; it is compressed where the name ends in .gz")
      .type("FILE");
  verb.option("--trace-events", options->trace_events,
              "End the timeline of a server after N events")
      .positive()
      .type(fmt::format("N [{}]", kTraceEvents));
  verb.option("--trace-kernels", options->trace_kernels,
              "Show the kernels of the first N iterations of each replica of a server that only "
              "decode, and of the first N that read prompts")
      .between(0, 1'000'000)
      .type(fmt::format("N [{}]", kTraceKernels));
  verb.option("--figure", options->figure,
              "Draw requests, tokens, KV blocks and devices of a server over time")
      .type("FILE.svg|FILE.pdf");
  verb.option(
          "-j,--threads", options->threads,
          "Threads for the replicas of a server that share nothing; one for each core by default, "
          "and one under --trace, --requests and --explain. The results are the same with any "
          "number")
      .between(1, 1024)
      .type("N");
  verb.option(
          "--requests", options->requests,
          "Write a row for each request of a server as CSV: arrival, replica, tokens, times; it "
          "is compressed where the name ends in .gz")
      .type("FILE");
  verb.flag("--json", options->json, "Print the record instead of the summary");
  verb.flag("--explain", options->explain,
            "After the summary, print the kernels of an average iteration of the server");
  verb.on_chosen([options] { return run(*options); });
}

}  // namespace tiersim::cli
