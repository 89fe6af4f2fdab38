#pragma once
// The forms of traces: how a line becomes a request.
//
//   azure      the CSV of Azure's LLM inference traces (azure_trace.hpp)
//   mooncake   JSON lines as Mooncake published them (mooncake_trace.hpp)
//   conversation   a JSON object for each conversation of an agent (conversation_trace.hpp)
//   benchmark  result files of `vllm bench serve` (benchmark_trace.hpp)
//   own        CSV or JSON lines whose columns the user names (TraceFormat, column_trace.hpp)
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"
#include "workloads/serving/trace_lines.hpp"

namespace tiersim {

/// How a time of arrival is written.
enum class TraceTime : std::uint8_t { iso, s, ms, us, ns };
inline constexpr std::array<std::string_view, 5> kTraceTimeNames{"iso", "s", "ms", "us", "ns"};

/// Names of the columns of a CSV file, or of the keys of a line of JSON.
struct TraceColumns {
  std::string arrival = {};
  std::string input = {};   ///< tokens of the prompt
  std::string output = {};  ///< tokens of the answer
  /// Name of the session that the request is a turn of; empty: requests wait for nothing. With it
  /// one of the two that follow.
  std::string session = {};
  std::string end = {};    ///< when the answer ended, in the form of `arrival`
  std::string pause = {};  ///< from the end of the turn before to this one, a number of `time`
};
void describe(Fields& f, TraceColumns& c);

/// The form of a trace of one's own.
struct TraceFormat {
  TraceColumns columns = {};
  /// Numbers of this unit, or ISO 8601; none: ISO where the first time looks like it, else seconds.
  std::optional<TraceTime> time = {};
};
void describe(Fields& f, TraceFormat& c);

/// A request with the values of its line.
struct RecordedRequest {
  std::int64_t line = 0;
  Int128 time = 0;  ///< picoseconds after the origin of the file's times
  std::int64_t input_tokens = 1;
  std::int64_t output_tokens = 1;
  std::vector<std::uint64_t> prefix = {};  ///< a name stands for a block and all before it
  // Of a turn of a session.
  std::optional<std::uint64_t> session = {};  ///< hash of the session's name
  std::optional<Int128> end = {};             ///< picoseconds, as `time`
  std::optional<Int128> pause = {};           ///< picoseconds
  /// True where `input_tokens` are what the turn adds to the one before and its answer, and
  /// `prefix` has the numbers of their blocks, which stand for these alone.
  bool adds = false;
  bool is_timed = true;    ///< false: when its session begins is not stated
  std::int64_t block = 0;  ///< tokens of a block of `prefix`; 0: not stated
};

class TraceForm {
 public:
  /// All mistakes go to `mistakes`, which must outlive this object.
  explicit TraceForm(TraceMistakes& mistakes) : mistakes_(mistakes) {}
  virtual ~TraceForm() = default;
  TraceForm(const TraceForm&) = delete;
  TraceForm& operator=(const TraceForm&) = delete;

  /// Reads a line; false where it is a header, has a mistake, or has no request that is replayed.
  virtual bool read(const TraceLine& line, RecordedRequest& out) = 0;
  /// The next request of the same line; false where there is none.
  virtual bool more(RecordedRequest& /*out*/) { return false; }
  /// Requests so far that are not replayed, since they have no answer.
  virtual std::int64_t left_out() const { return 0; }
  /// True where the first line has a mistake that makes the others meaningless.
  virtual bool failed() const { return false; }

 protected:
  void report(const TraceLine& line, std::size_t column, std::string message,
              std::string hint = {}) {
    mistakes_.report(line, column, std::move(message), std::move(hint));
  }
  /// A number of tokens, from 1 to kMostTokens; 0 for any other text, which is reported under
  /// `name`. The text begins at `column` of the line.
  std::int64_t tokens(const TraceLine& line, std::size_t column, std::string_view name,
                      std::string_view text);

 private:
  TraceMistakes& mistakes_;
};

/// The form that the first line has: `format` if the user gave one.
std::unique_ptr<TraceForm> make_trace_form(const TraceLine& first,
                                           const std::optional<TraceFormat>& format,
                                           TraceMistakes& mistakes);

/// Reads the requests of a trace in the order of its lines.
class TraceReader {
 public:
  TraceReader(TraceLines lines, std::optional<TraceFormat> format, TraceMistakes& mistakes)
      : lines_(std::move(lines)), format_(std::move(format)), mistakes_(mistakes) {}

  /// The next request; false at the end. Lines with mistakes are reported and left out, and so are
  /// empty lines before another one.
  bool next(RecordedRequest& out);
  /// After the last request.
  std::string digest() const { return lines_.digest(); }
  std::int64_t left_out() const { return form_ ? form_->left_out() : 0; }
  /// The reason why the file cannot be read to its end; empty if there is none so far.
  const std::string& error() const { return lines_.error(); }

 private:
  TraceLines lines_;
  std::optional<TraceFormat> format_;
  TraceMistakes& mistakes_;
  std::unique_ptr<TraceForm> form_;
  std::int64_t line_ = 0;   // number of the last one that was read
  std::int64_t empty_ = 0;  // lines since the last one that is not empty
};

}  // namespace tiersim
