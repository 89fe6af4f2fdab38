#include "workloads/serving/column_trace.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "workloads/serving/name_hash.hpp"
#include "workloads/serving/trace_time.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kBlanks = " \t";

int exponent_of(TraceTime unit) {
  constexpr std::array<int, 5> kExponents{0, 0, -3, -6, -9};
  return kExponents[static_cast<std::size_t>(unit)];
}

// A name in double quotes has doubled quotes for single ones.
std::string unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return out;
}

std::string missing_hint(const std::string& name, const std::vector<std::string>& names) {
  const std::string near(nearest(name, names));
  return (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) +
         "there are: " + join(names);
}

}  // namespace

Expected<Int128, ArrivalTimes::Mistake> ArrivalTimes::read(const TraceLine& line,
                                                           const std::string& name,
                                                           std::string_view text) {
  const auto stamp = parse_time_stamp(text);
  if (!unit_ && stamp) unit_ = TraceTime::iso;
  const auto number = parse_decimal_time(text, unit_ ? exponent_of(*unit_) : 0);
  if (!unit_ && number) unit_ = TraceTime::s;
  const std::string is = fmt::format("{} is {}", name, in_quotes(text));
  if (!unit_)
    return Unexpected(
        Mistake{is,
                "it is a number of seconds, or a time such as 2026-03-01T08:00:00.25+01:00; "
                "`time: ms` beside `columns` names another unit"});
  if (*unit_ != TraceTime::iso) {
    if (number) return *number;
    constexpr std::array<std::string_view, 5> kWords{"", "seconds", "milliseconds", "microseconds",
                                                     "nanoseconds"};
    const std::string_view unit = kWords[static_cast<std::size_t>(*unit_)];
    return Unexpected(Mistake{is, stamp ? fmt::format("times before it are numbers of {}; a trace "
                                                      "has one kind of time",
                                                      unit)
                                        : fmt::format("it is a number of {}", unit)});
  }
  if (!stamp)
    return Unexpected(
        Mistake{is, "it is a time such as 2026-03-01T08:00:00.25+01:00, as those before it"});
  if (!zoned_) {
    zoned_ = stamp->zoned;
    first_line_ = line.number;
  }
  if (*zoned_ == stamp->zoned) return stamp->time;
  return Unexpected(
      Mistake{fmt::format("{}, {} a time zone", is, stamp->zoned ? "with" : "without"),
              fmt::format("the time of line {} is {} one; times without a zone cannot "
                          "be compared with others",
                          first_line_, *zoned_ ? "with" : "without")});
}

Expected<Int128, ArrivalTimes::Mistake> ArrivalTimes::read_span(const std::string& name,
                                                                std::string_view text) const {
  const auto span = parse_decimal_time(text, unit_ ? exponent_of(*unit_) : 0);
  if (span && *span >= 0) return *span;
  return Unexpected(Mistake{fmt::format("{} is {}", name, in_quotes(text)),
                            "it is a number of the unit of the arrivals (s beside iso), and not "
                            "below 0"});
}

bool read_session_cells(const TraceLine& line, const TraceColumns& columns,
                        const SessionCells& cells, ArrivalTimes& times, const ReportCell& report,
                        RecordedRequest& out) {
  out.session.reset();
  out.end.reset();
  out.pause.reset();
  const auto given = [](const TraceCell& cell) {
    return !cell.text.empty() && cell.text != "null";
  };
  if (columns.session.empty() || !given(cells.session)) return true;
  out.session = text_hash(cells.session.text);
  bool whole = true;
  const auto take = [&](const TraceCell& cell, const auto& value, std::optional<Int128>& into) {
    if (value) {
      into = *value;
      return;
    }
    report(cell.column, value.error().message, value.error().hint);
    whole = false;
  };
  if (!columns.end.empty() && given(cells.end))
    take(cells.end, times.read(line, columns.end, cells.end.text), out.end);
  if (!columns.pause.empty() && given(cells.pause))
    take(cells.pause, times.read_span(columns.pause, cells.pause.text), out.pause);
  return whole;
}

// Splits the line into cells_; reports a quotation that does not end.
bool CsvColumns::split(const TraceLine& line) {
  cells_.clear();
  const std::string_view text = line.text;
  for (std::size_t at = 0;;) {
    std::size_t begin = text.find_first_not_of(separator_ == '\t' ? " " : kBlanks, at);
    begin = std::min(begin, text.size());
    std::size_t end = 0;  // of the value
    std::size_t next = 0;
    if (begin < text.size() && text[begin] == '"') {
      std::size_t close = begin + 1;
      while (close < text.size() && (text[close] != '"' || text.substr(close + 1).starts_with('"')))
        close += text[close] == '"' ? 2U : 1U;
      if (close >= text.size()) {
        report(line, begin + 1, "the quotation that begins here does not end",
               "a value stands on one line, and a quote in it is doubled");
        return false;
      }
      end = close;
      next = std::min(text.find_first_not_of(' ', close + 1), text.size());
      if (next < text.size() && text[next] != separator_) {
        report(line, next + 1,
               fmt::format("{} after a value in quotes", in_quotes(text.substr(next))),
               "a quote in a value is doubled");
        return false;
      }
      ++begin;
    } else {
      next = std::min(text.find(separator_, at), text.size());
      begin = std::min(begin, next);
      end = next;
      while (end > begin && kBlanks.find(text[end - 1]) != std::string_view::npos) --end;
    }
    cells_.push_back({text.substr(begin, end - begin), begin + 1});
    if (next == text.size()) return true;
    at = next + 1;
  }
}

std::size_t CsvColumns::place_of(const TraceLine& line, const std::string& name,
                                 const std::vector<std::string>& names) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) {
    report(line, 1, fmt::format("there is no column '{}'", printable(name)),
           printable(missing_hint(name, names)));
    failed_ = true;
    return 0;
  }
  const auto place = static_cast<std::size_t>(at - names.begin());
  const auto again = std::find(at + 1, names.end(), name);
  if (again == names.end()) return place;
  report(line, cells_[static_cast<std::size_t>(again - names.begin())].column,
         fmt::format("a second column '{}'", printable(name)), "rename one of them");
  failed_ = true;
  return place;
}

void CsvColumns::read_names(const TraceLine& line) {
  has_names_ = true;
  for (const char separator : {'\t', ';', ','})
    if (line.text.find(separator) != std::string_view::npos) {
      separator_ = separator;
      break;
    }
  if (!split(line)) {
    failed_ = true;
    return;
  }
  count_ = cells_.size();
  std::vector<std::string> names;
  for (const TraceCell& cell : cells_) names.push_back(unquoted(cell.text));
  arrival_ = place_of(line, columns_.arrival, names);
  input_ = place_of(line, columns_.input, names);
  output_ = place_of(line, columns_.output, names);
  if (!columns_.session.empty()) session_ = place_of(line, columns_.session, names);
  if (!columns_.end.empty()) end_ = place_of(line, columns_.end, names);
  if (!columns_.pause.empty()) pause_ = place_of(line, columns_.pause, names);
}

bool CsvColumns::read(const TraceLine& line, RecordedRequest& out) {
  if (!has_names_) {
    read_names(line);
    return false;
  }
  if (!split(line)) return false;
  if (cells_.size() != count_) {
    report(line, 1, fmt::format("has {} columns, and the first line has {}", cells_.size(), count_),
           "a value with a separator stands in double quotes");
    return false;
  }
  const TraceCell& arrival = cells_[arrival_];
  const auto time = times_.read(line, columns_.arrival, arrival.text);
  if (!time) report(line, arrival.column, time.error().message, time.error().hint);
  const auto count = [&](std::size_t place, const std::string& name) {
    return tokens(line, cells_[place].column, name, cells_[place].text);
  };
  out.time = time ? *time : Int128{0};
  out.input_tokens = count(input_, columns_.input);
  out.output_tokens = count(output_, columns_.output);
  out.prefix.clear();
  const bool session = read_session_cells(
      line, columns_, {cells_[session_], cells_[end_], cells_[pause_]}, times_,
      [&](std::size_t column, const std::string& message, const std::string& hint) {
        report(line, column, message, hint);
      },
      out);
  return time && session && out.input_tokens > 0 && out.output_tokens > 0;
}

namespace {
using Json = nlohmann::json;
}  // namespace

// The texts of some keys of one object. A key with dots is looked for in the objects within it:
// "metrics.osl.value".
class JsonColumns::LineReader final : public nlohmann::json_sax<Json> {
 public:
  static constexpr std::size_t kColumns = 6;

  explicit LineReader(const TraceColumns& columns)
      : keys_{columns.arrival, columns.input, columns.output,
              columns.session, columns.end,   columns.pause} {}

  void begin() {
    values_ = {};
    seen_.clear();
    depth_ = 0;
    lists_ = 0;
    path_.clear();
    key_.reset();
    mistake_.clear();
    column_ = 1;
  }
  const std::optional<std::string>& value(std::size_t key) const { return values_[key]; }
  const std::vector<std::string>& seen() const { return seen_; }
  const std::string& mistake() const { return mistake_; }
  std::size_t column() const { return column_; }

  bool number_unsigned(number_unsigned_t number) override { return put(std::to_string(number)); }
  bool number_integer(number_integer_t number) override { return put(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return put(text); }
  bool null() override { return put("null"); }
  bool boolean(bool value) override { return put(value ? "true" : "false"); }
  bool string(string_t& text) override { return put(text); }
  bool binary(binary_t&) override { return put("binary"); }
  bool start_object(std::size_t) override { return open("an object"); }
  bool start_array(std::size_t) override {
    ++lists_;
    return open("a list");
  }
  bool end_object() override { return close(); }
  bool end_array() override {
    --lists_;
    return close();
  }
  bool key(string_t& key) override {
    if (lists_ > 0) return true;
    path_.resize(static_cast<std::size_t>(depth_));
    path_.back() = key;
    const std::string whole = join(path_, ".");
    const auto at = std::ranges::find(keys_, whole);
    key_.reset();
    if (at == keys_.end() || at->empty()) {
      if (depth_ != 1) return true;
      constexpr std::size_t kShown = 50;
      if (seen_.size() < kShown) seen_.push_back(key);
      return true;
    }
    key_ = static_cast<std::size_t>(at - keys_.begin());
    if (!values_[*key_]) return true;
    mistake_ = fmt::format("'{}' is given twice", printable(whole));
    return false;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    column_ = std::max<std::size_t>(position, 1);
    mistake_ = "is no JSON from here on";
    return false;
  }

 private:
  bool put(std::string text) {
    if (lists_ == 0 && key_) values_[*std::exchange(key_, std::nullopt)] = std::move(text);
    return true;
  }
  bool open(const char* what) {
    if (key_) values_[*std::exchange(key_, std::nullopt)] = what;
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::array<std::string, kColumns> keys_;
  std::array<std::optional<std::string>, kColumns> values_{};
  std::vector<std::string> seen_;  // other keys
  int depth_ = 0;
  int lists_ = 0;
  std::vector<std::string> path_;  // keys of the open objects
  std::optional<std::size_t> key_;
  std::string mistake_;
  std::size_t column_ = 1;
};

JsonColumns::JsonColumns(const TraceFormat& format, TraceMistakes& mistakes)
    : TraceForm(mistakes),
      columns_(format.columns),
      times_(format),
      line_(std::make_unique<LineReader>(format.columns)) {}
JsonColumns::~JsonColumns() = default;

bool JsonColumns::read(const TraceLine& line, RecordedRequest& out) {
  line_->begin();
  if (!line.text.starts_with('{')) {
    report(line, 1, fmt::format("is {}", in_quotes(line.text)), "a line is an object");
    return false;
  }
  if (!Json::sax_parse(line.text, line_.get())) {
    report(line, line_->column(), line_->mistake());
    return false;
  }
  const std::array<std::string, 3> names{columns_.arrival, columns_.input, columns_.output};
  bool whole = true;
  for (std::size_t key = 0; key < names.size(); ++key) {
    if (line_->value(key)) continue;
    report(line, 1, fmt::format("'{}' is missing", printable(names[key])),
           printable(missing_hint(names[key], line_->seen())));
    whole = false;
  }
  if (!whole) return false;
  const auto column_of = [&](std::size_t key) {
    const std::size_t at = line.text.find('"' + names[key] + '"');
    return at == std::string_view::npos ? 1 : at + 1;
  };
  const auto time = times_.read(line, names[0], *line_->value(0));
  if (!time) report(line, column_of(0), time.error().message, time.error().hint);
  out.time = time ? *time : Int128{0};
  out.input_tokens = tokens(line, column_of(1), names[1], *line_->value(1));
  out.output_tokens = tokens(line, column_of(2), names[2], *line_->value(2));
  out.prefix.clear();
  const auto cell = [&](std::size_t key, const std::string& name) {
    const auto& value = line_->value(key);
    const std::size_t at = name.empty() ? std::string_view::npos : line.text.find('"' + name + '"');
    return TraceCell{value ? std::string_view(*value) : std::string_view(),
                     at == std::string_view::npos ? 1 : at + 1};
  };
  const bool session = read_session_cells(
      line, columns_, {cell(3, columns_.session), cell(4, columns_.end), cell(5, columns_.pause)},
      times_,
      [&](std::size_t column, const std::string& message, const std::string& hint) {
        report(line, column, message, hint);
      },
      out);
  return time && session && out.input_tokens > 0 && out.output_tokens > 0;
}

}  // namespace tiersim
