#pragma once
// Traces whose columns the user names, as CSV or as JSON lines.
//
//   CSV         The first line has the names. Values are separated by commas, or by tabs or
//               semicolons where the first line has these; a value may stand in double quotes, and
//               spaces around it do not count. Other columns are not read.
//   JSON lines  A line is an object; a value is a number or text. Other keys are not read.
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

/// A value of a line, and the column where it begins.
struct TraceCell {
  std::string_view text;
  std::size_t column = 1;
};

class ArrivalTimes;

/// Reads the cells of a turn's session into `out`; an empty cell or "null" is none. Calls `report`
/// with a mistake at its column, and returns false then.
using ReportCell =
    std::function<void(std::size_t column, const std::string& message, const std::string& hint)>;
struct SessionCells {
  TraceCell session = {};
  TraceCell end = {};
  TraceCell pause = {};
};
bool read_session_cells(const TraceLine& line, const TraceColumns& columns,
                        const SessionCells& cells, ArrivalTimes& times, const ReportCell& report,
                        RecordedRequest& out);

/// Reads times of arrival, all of which must be of one kind: numbers, times with a zone, or times
/// without one.
class ArrivalTimes {
 public:
  explicit ArrivalTimes(const TraceFormat& format) : unit_(format.time) {}

  struct Mistake {
    std::string message;
    std::string hint;
  };
  /// `name`: the column, for messages.
  Expected<Int128, Mistake> read(const TraceLine& line, const std::string& name,
                                 std::string_view text);
  /// A time between two moments, in picoseconds: a number of the unit of the arrivals.
  Expected<Int128, Mistake> read_span(const std::string& name, std::string_view text) const;

 private:
  std::optional<TraceTime> unit_;
  std::optional<bool> zoned_ = {};  // of the first time
  std::int64_t first_line_ = 0;
};

class CsvColumns final : public TraceForm {
 public:
  CsvColumns(const TraceFormat& format, TraceMistakes& mistakes)
      : TraceForm(mistakes), columns_(format.columns), times_(format) {}
  bool read(const TraceLine& line, RecordedRequest& out) override;
  bool failed() const override { return failed_; }

 private:
  bool split(const TraceLine& line);
  void read_names(const TraceLine& line);
  std::size_t place_of(const TraceLine& line, const std::string& name,
                       const std::vector<std::string>& names);

  TraceColumns columns_;
  ArrivalTimes times_;
  char separator_ = ',';
  std::vector<TraceCell> cells_;  // of the line
  std::size_t count_ = 0;         // columns
  std::size_t arrival_ = 0;
  std::size_t input_ = 0;
  std::size_t output_ = 0;
  std::size_t session_ = 0;  // these where their columns are named
  std::size_t end_ = 0;
  std::size_t pause_ = 0;
  bool has_names_ = false;
  bool failed_ = false;
};

class JsonColumns final : public TraceForm {
 public:
  JsonColumns(const TraceFormat& format, TraceMistakes& mistakes);
  ~JsonColumns() override;
  bool read(const TraceLine& line, RecordedRequest& out) override;

 private:
  class LineReader;
  TraceColumns columns_;
  ArrivalTimes times_;
  std::unique_ptr<LineReader> line_;
};

}  // namespace tiersim
