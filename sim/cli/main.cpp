// tiersim: parses the command line, runs one verb, maps every outcome to an exit code.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/sweep/sqlite.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tiersim::cli {
namespace {

std::string footer() {
  std::string out = "Exit status:";
  for (const auto& [code, meaning] : kExitCodes)
    out += fmt::format("{} {} {}", code == 0 ? "" : ",", code, meaning);
  return out + ".\n`tiersim VERB --help` explains a verb. `./tiersim test` runs the tests.";
}

void add_verbs(CommandLine& command_line) {
  const Verb program = command_line.program();
  add_run(program);
  add_sweep(program);
  add_merge(program);
  add_reproduce(program);
  add_report(program);
  add_solve(program);
  add_calibrate(program);
  add_predict(program);
  add_validate(program);
  add_trace(program);
  add_numerics(program);
  add_config(program);
  add_show(program);
  add_list(program);
  add_compare(program);
  add_rerun(program);
  add_doctor(program);
  add_examples(program);
  add_cite(program);
  add_completion(program, command_line);
}

// A graph of operations takes megabytes and is freed after its run. The C library would give them
// back to the system each time, and page faults would take as long as the simulation.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 64 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 256 * kMiB);
#endif
}

ExitCode run(int argc, char** argv) {
  CommandLine command_line(
      "Performance simulator of memory tiers and interconnects for LLM inference.",
      fmt::format("tiersim {}", kVersion), footer());
  add_verbs(command_line);
  try {
    return command_line.run(argc, argv);
  } catch (const Failure& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return failure.code;
  } catch (const DamagedStore& error) {
    fmt::print(stderr, "tiersim: error: {}\n", printable(error.what()));
    return ExitCode::bad_config;
  } catch (const StoreError& error) {
    fmt::print(stderr, "tiersim: error: {}\n", printable(error.what()));
    return ExitCode::usage;
  }
}

}  // namespace
}  // namespace tiersim::cli

int main(int argc, char** argv) {
  using tiersim::ExitCode;
  tiersim::cli::keep_freed_memory();
  try {
    ExitCode code = tiersim::cli::run(argc, argv);
    // A full disk or a closed pipe behind stdout shows only here, or where a stream flushed before.
    errno = 0;
    const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
    if (!flushed && code == ExitCode::ok) {
      const int reason = errno == 0 ? EIO : errno;
      std::fprintf(stderr, "tiersim: error: cannot write to standard output: %s\n",
                   std::generic_category().message(reason).c_str());
      code = ExitCode::internal;
    }
    return static_cast<int>(code);
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "tiersim: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  } catch (const std::system_error& error) {
    // From printing more than a buffer holds; errors of files are reported where they are written.
    std::fprintf(stderr, "tiersim: error: cannot write to standard output: %s\n",
                 error.code().message().c_str());
    return static_cast<int>(ExitCode::internal);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tiersim: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
