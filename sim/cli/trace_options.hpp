#pragma once
// Options that the verbs of `tiersim trace` share.
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/command_line.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/sessions/nominal_server.hpp"

namespace tiersim::cli {

/// The trace that is read: the file, and the columns of one of the user's own.
struct TraceInput {
  std::string file;
  std::vector<std::string> columns;
  std::string time;

  void add_to(Verb verb);
  /// The form of the file; none for a published form.
  std::optional<TraceFormat> format() const;
  /// Throws where the file cannot be read at all.
  void expect_readable() const;
};

/// How long answers are taken to last where nothing serves them.
struct AnswerOptions {
  std::string first_token = "0 s";
  std::string token = "0 s";

  void add_to(Verb verb);
  AnswerTime time() const;
};

/// The values of --blocks and of --token-bytes.
std::vector<std::int64_t> capacities_of(const std::vector<std::string>& words);
Bytes token_bytes_of(const std::string& text);
/// Tokens of a named block: --block, or what the file states (0: nothing), or Mooncake's 512.
std::int64_t block_of(const std::optional<std::int64_t>& given, std::int64_t stated);

/// Ends with the mistakes of a trace, each at its place.
[[noreturn]] void throw_problems(const std::string& file, const TraceProblems& problems);
/// A wrong value of an option.
[[noreturn]] void misuse(const std::string& option, const std::string& problem);

void add_trace_cache(Verb trace);
void add_trace_fit(Verb trace);
void add_trace_make(Verb trace);

}  // namespace tiersim::cli
