#include "sim/record/compact_record.hpp"

#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "sim/config/json_text.hpp"
#include "sim/record/record_fields.hpp"

namespace tiersim {
namespace {

// Appends JSON to one text. `first_` is true where no comma is due. Nesting needs no stack, since
// after a closing bracket comes a comma or another closing bracket.
class Line {
 public:
  void open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  // Keys of fields have no escapes.
  void key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    first_ = true;
  }
  // The key of an entry of a map.
  void name(std::string_view name) {
    text(name);
    out_ += ':';
    first_ = true;
  }
  void text(std::string_view text) {
    separate();
    if (plain(text)) {
      out_ += '"';
      out_ += text;
      out_ += '"';
    } else {
      out_ += detail::json_string(text);
    }
  }
  void whole(std::int64_t value) {
    separate();
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }
  // The shortest text that reads back as this value.
  void real(double value) {
    separate();
    if (std::isfinite(value))
      fmt::format_to(std::back_inserter(out_), "{}", value);
    else
      out_ += "null";  // as pretty_results()
  }
  std::string take() { return std::move(out_); }

 private:
  static bool plain(std::string_view text) {
    for (const char c : text)
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == '\x7f')
        return false;
    return true;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

template <class T>
void write(Line& line, const T& value);

// Writes the members of an object.
class LineWriter : public record::Visitor<LineWriter> {
 public:
  LineWriter(Line& line, Setup setup) : line_(line), setup_(setup) {}

  void doc(std::string_view, std::string_view) {}
  template <class T>
  void field(const record::Field& f, const T& member) {
    if constexpr (record::kIsOptional<T>) {
      if (member) field(f, *member);
    } else {
      if constexpr (std::is_same_v<T, double>)
        if (f.presence == record::Presence::above_zero && !(member > 0)) return;
      if (f.presence == record::Presence::in_stores && setup_ == Setup::left_out) return;
      line_.key(f.key);
      write(line_, member);
    }
  }

 private:
  Line& line_;
  Setup setup_;
};

template <class T>
void write_object(Line& line, const T& value, Setup setup) {
  line.open('{');
  LineWriter writer(line, setup);
  record::describe(writer, value);
  line.close('}');
}

template <class T>
void write(Line& line, const T& value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    line.whole(value);
  } else if constexpr (std::is_same_v<T, double>) {
    line.real(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    line.text(value);
  } else if constexpr (std::is_same_v<T, NumberClass>) {
    line.text(name(value));
  } else if constexpr (record::kIsInterval<T>) {
    line.open('[');
    write(line, value.low);
    write(line, value.high);
    line.close(']');
  } else if constexpr (record::kIsList<T> && !record::kIsSeries<T>) {
    line.open('[');
    for (const auto& entry : value) write(line, entry);
    line.close(']');
  } else if constexpr (record::kIsMap<T> || record::kIsSeries<T>) {
    line.open('{');
    for (const auto& [key, entry] : value) {
      line.name(key);
      write(line, entry);
    }
    line.close('}');
  } else {
    write_object(line, value, Setup::left_out);
  }
}

}  // namespace

std::string compact_results(const RunRecord& record, Setup setup) {
  Line line;
  write_object(line, record::ResultsOf{record}, setup);
  return line.take();
}

std::string compact_metrics(const RunRecord& record, Setup setup) {
  Line line;
  write_object(line, record::MetricsOf{record}, setup);
  return line.take();
}

}  // namespace tiersim
