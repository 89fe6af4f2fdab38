#include "workloads/serving/trace_form.hpp"

#include <charconv>

#include <fmt/format.h>

#include "workloads/serving/azure_trace.hpp"
#include "workloads/serving/benchmark_trace.hpp"
#include "workloads/serving/column_trace.hpp"
#include "workloads/serving/conversation_trace.hpp"
#include "workloads/serving/mooncake_trace.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {
namespace {

// Says what no trace begins with.
class NoForm final : public TraceForm {
 public:
  using TraceForm::TraceForm;
  bool failed() const override { return true; }
  bool read(const TraceLine& line, RecordedRequest&) override {
    if (line.text == "{" || line.text == "[") {
      report(line, 1, "begins JSON that goes on in the next line",
             line.text == "{" ? "one object on a line: jq -c . FILE"
                              : "one object on a line: jq -c '.[]' FILE");
      return false;
    }
    report(line, 1,
           line.text.empty()
               ? "is empty"
               : fmt::format("begins with {}, which no known trace does", in_quotes(line.text)),
           fmt::format("known are CSV that begins with {}, and JSON lines that begin with {{; name "
                       "the columns of any other CSV or JSON lines: trace: {{file: PATH, columns: "
                       "{{arrival: A, input: B, output: C}}}}",
                       kAzureHeader));
    return false;
  }
};

}  // namespace

void describe(Fields& f, TraceColumns& c) {
  f.doc("The columns of a CSV file with a line of names, or the keys of JSON lines.");
  f.required("arrival", c.arrival, "When the request came.");
  f.required("input", c.input, "Tokens of the prompt.");
  f.required("output", c.output, "Tokens of the answer.");
  f.optional("session", c.session,
             "Name of the session that the request is a turn of. A turn waits for the end of the "
             "one before, and for a pause; what has no name is a session of one turn.");
  f.optional("end", c.end,
             "When the answer ended, in the form of `arrival`: the pause before a turn is the time "
             "from the end of the one before.");
  f.optional("pause", c.pause,
             "The pause before a turn, a number of the unit of `time` (s beside iso); may be empty "
             "in the first turn of a session.");
  f.check(c.session.empty() || c.end.empty() != c.pause.empty(), "session",
          c.end.empty() ? "has no pauses between its turns" : "has its pauses twice",
          "name one column beside it: `end` or `pause`");
  f.check(!c.session.empty() || c.end.empty(), "end", "has no effect without `session`",
          "name the column of the sessions, or leave it out");
  f.check(!c.session.empty() || c.pause.empty(), "pause", "has no effect without `session`",
          "name the column of the sessions, or leave it out");
}

void describe(Fields& f, TraceFormat& c) {
  f.doc("The form of a trace of one's own.");
  f.required("columns", c.columns, "Which column is which.");
  f.optional("time", c.time, kTraceTimeNames,
             "Times of arrival: iso (2026-03-01T08:00:00.25+01:00), or numbers of this unit. By "
             "default iso where the first one looks like it, else s.");
}

std::int64_t TraceForm::tokens(const TraceLine& line, std::size_t column, std::string_view name,
                               std::string_view text) {
  std::int64_t value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  if (whole && value >= 1 && value <= kMostTokens) return value;
  report(line, column, fmt::format("{} is {}", name, in_quotes(text)),
         whole && value == 0 ? "a request has a token in and one out at least; take the line out"
                             : fmt::format("it is a whole number from 1 to {}", kMostTokens));
  return 0;
}

std::unique_ptr<TraceForm> make_trace_form(const TraceLine& first,
                                           const std::optional<TraceFormat>& format,
                                           TraceMistakes& mistakes) {
  if (first.text == "{" || first.text == "[") return std::make_unique<NoForm>(mistakes);
  const bool json = first.text.starts_with('{');
  if (format && json) return std::make_unique<JsonColumns>(*format, mistakes);
  if (format) return std::make_unique<CsvColumns>(*format, mistakes);
  if (first.text == kAzureHeader) return std::make_unique<AzureTrace>(mistakes);
  if (ConversationTrace::is_one(first.text)) return std::make_unique<ConversationTrace>(mistakes);
  if (BenchmarkTrace::is_one(first.text)) return std::make_unique<BenchmarkTrace>(mistakes);
  if (json) return std::make_unique<MooncakeTrace>(mistakes);
  return std::make_unique<NoForm>(mistakes);
}

bool TraceReader::next(RecordedRequest& out) {
  if (form_ && form_->more(out)) {
    out.line = line_;
    return true;
  }
  while (!form_ || !form_->failed()) {
    const auto line = lines_.next();
    if (!line) {
      if (!form_ && lines_.error().empty()) NoForm(mistakes_).read({}, out);
      return false;
    }
    if (line->text.empty()) {
      ++empty_;
      continue;
    }
    for (; empty_ > 0; --empty_)
      mistakes_.report({line->number - empty_, ""}, 1, "is empty", "take it out");
    if (!form_) form_ = make_trace_form(*line, format_, mistakes_);
    if (!form_->read(*line, out)) continue;
    out.line = line_ = line->number;
    return true;
  }
  return false;
}

}  // namespace tiersim
