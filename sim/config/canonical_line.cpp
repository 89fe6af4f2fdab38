// The canonical text of a configuration, written while its fields are listed. It equals
// to_json_line() of dump(), without the tree in between: every point of a sweep needs this text for
// its id, and building a tree of strings would take half of the time of an analytic point.
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/describe.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/scalars.hpp"

namespace tiersim::detail {

/// The text of each field of a mapping from the previous pass.
struct WrittenFields {
  struct Written {
    std::string key = {};
    std::string text = {};                           // with the key; empty if the field is absent
    std::unique_ptr<WrittenFields> below = nullptr;  // if only parts of the value change
  };
  std::vector<Written> fields = {};
  std::size_t next = 0;

  // Fields come in the same order each time, so the next entry usually matches.
  Written* find(std::string_view key) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::size_t at = (next + i) % fields.size();
      if (fields[at].key != key) continue;
      next = at + 1;
      return &fields[at];
    }
    return nullptr;
  }
};

namespace {

/// A part of a text.
struct Cut {
  std::size_t begin;
  std::size_t end;
};

class LineWriter final : public Fields {
 public:
  LineWriter(std::string& out, Sources sources, std::vector<Cut>* at_sources = nullptr)
      : out_(out), sources_(sources), at_sources_(at_sources) {
    out_ += '{';
  }
  LineWriter(std::string& out, Sources sources, const ChangedKeys& changed, WrittenFields& written)
      : out_(out), sources_(sources), changed_(&changed), written_(&written) {
    out_ += '{';
    written.next = 0;
  }
  /// Writes the outermost mapping. `out` already holds the text before the first field that
  /// changes, and `unchanged` is the length of that text. A length of 0 means that it is not known
  /// yet; the writer then sets it.
  LineWriter(std::string& out, const ChangedKeys& changed, WrittenFields& written,
             std::size_t& unchanged)
      : out_(out),
        sources_(Sources::left_out),
        changed_(&changed),
        written_(&written),
        unchanged_(&unchanged) {
    if (unchanged == 0) out_ += '{';
    written.next = 0;
  }

  void doc(std::string_view) override {}
  void importable(std::string_view, std::string_view, ImportCount) override {}
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void select(std::string_view key, std::string& kind, const std::vector<Alternative>& alternatives,
              const DescribeKind& describe_kind) override {
    unchanged_ = nullptr;  // the kind is written each time
    begin(key);
    append_json_string(out_, kind);
    if (std::ranges::find(alternatives, kind, &Alternative::name) == alternatives.end()) return;
    describe_kind(kind, *this);
  }

  static void write(std::string& out, const StructValue& value, Sources sources,
                    std::vector<Cut>* at_sources = nullptr) {
    LineWriter writer(out, sources, at_sources);
    value.describe(writer);
    out += '}';
  }

 protected:
  void field(const Field& field, const Value& value) override {
    if (changed_ != nullptr) return write_again(field, value);
    if (is_absent(value)) return;
    begin(field.key);
    write(value);
  }

 private:
  void write_again(const Field& field, const Value& value) {
    const ChangedKeys* changed = changed_->find(field.key);
    if (unchanged_ != nullptr) {
      if (changed == nullptr && *unchanged_ > 0) return;  // `out_` has it
      if (changed != nullptr) {
        *unchanged_ = out_.size();
        unchanged_ = nullptr;
      }
    }
    WrittenFields::Written* written = written_->find(field.key);
    const bool known = written != nullptr;
    if (!known) {
      written_->fields.push_back({.key = std::string(field.key)});
      written = &written_->fields.back();
    }
    if (changed == nullptr && known) {
      if (written->text.empty()) return;
      if (out_.back() != '{') out_ += ',';
      out_ += written->text;
      return;
    }
    if (is_absent(value)) return;
    begin(field.key);
    const std::size_t start = out_.size();
    const auto* structure = std::get_if<StructValue>(&value.kind);
    if (changed != nullptr && structure != nullptr && !changed->whole()) {
      if (!written->below) written->below = std::make_unique<WrittenFields>();
      LineWriter writer(out_, sources_, *changed, *written->below);
      structure->describe(writer);
      out_ += '}';
      return;
    }
    write(value);
    if (changed != nullptr) return;
    append_json_string(written->text, field.key);
    written->text += ':';
    written->text.append(out_, start);
  }

  static bool is_absent(const Value& value) {
    const auto* optional = std::get_if<OptionalValue>(&value.kind);
    return optional != nullptr && (!optional->has() || is_absent(optional->get()));
  }

  void begin(std::string_view key) {
    if (out_.back() != '{') out_ += ',';
    append_json_string(out_, key);
    out_ += ':';
  }

  void write(const ScalarValue& value) {
    const auto* const* text = std::get_if<std::string*>(&value);
    if (text != nullptr) return append_json_string(out_, **text);
    const bool quoted = is_text(value);
    if (quoted) out_ += '"';  // a quantity, which has nothing to escape
    append_scalar(out_, value);
    if (quoted) out_ += '"';
  }
  void write(const SourcedValue& value) {
    out_ += '{';
    begin("value");
    write(value.value);
    begin("class");
    append_json_string(out_, name(*value.number_class));
    if (value.ci95.has()) {
      begin("ci95");
      out_ += '[';
      write(value.ci95.low());
      out_ += ',';
      write(value.ci95.high());
      out_ += ']';
    }
    if (sources_ == Sources::kept) {
      const std::size_t start = out_.size();
      begin("source");
      append_json_string(out_, *value.source);
      if (at_sources_ != nullptr) at_sources_->push_back({start, out_.size()});
    }
    out_ += '}';
  }
  void write(const EnumValue& value) { append_json_string(out_, value.names[value.get()]); }
  void write(const StructValue& value) { write(out_, value, sources_, at_sources_); }
  void write(const ListValue& value) {
    out_ += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out_ += ',';
      write(value.at(i));
    }
    out_ += ']';
  }
  void write(const MapValue& value) {
    out_ += '{';
    value.for_each([this](const std::string& key, const Value& entry) {
      begin(key);
      write(entry);
    });
    out_ += '}';
  }
  void write(const OptionalValue& value) {
    if (value.has())
      write(value.get());
    else
      out_ += "null";
  }
  void write(const Value& value) {
    std::visit([this](const auto& v) { this->write(v); }, value.kind);
  }

  std::string& out_;
  Sources sources_;
  std::vector<Cut>* at_sources_ = nullptr;  // takes the places of all sources, if set
  const ChangedKeys* changed_ = nullptr;
  WrittenFields* written_ = nullptr;  // set where `changed_` is set
  std::size_t* unchanged_ = nullptr;  // until the first field that changes
};

}  // namespace

std::string canonical(const StructValue& config, Sources sources) {
  std::string out;
  LineWriter::write(out, config, sources);
  return out;
}

CanonicalTexts canonical_texts(const StructValue& config) {
  CanonicalTexts out;
  std::vector<Cut> at_sources;
  LineWriter::write(out.json, config, Sources::kept, &at_sources);
  const std::string_view json = out.json;
  out.for_id.reserve(json.size());
  std::size_t next = 0;
  for (const Cut& cut : at_sources) {
    out.for_id += json.substr(next, cut.begin - next);
    next = cut.end;
  }
  out.for_id += json.substr(next);
  return out;
}

}  // namespace tiersim::detail

namespace tiersim {

struct RepeatedText::Memory {
  detail::WrittenFields fields = {};
};

RepeatedText::RepeatedText(ChangedKeys changed)
    : changed_(std::move(changed)), memory_(std::make_unique<Memory>()) {}
RepeatedText::RepeatedText(RepeatedText&&) noexcept = default;
RepeatedText& RepeatedText::operator=(RepeatedText&&) noexcept = default;
RepeatedText::~RepeatedText() = default;

const std::string& RepeatedText::write(const detail::StructValue& config) {
  text_.resize(unchanged_);
  detail::LineWriter writer(text_, changed_, memory_->fields, unchanged_);
  config.describe(writer);
  text_ += '}';
  return text_;
}

}  // namespace tiersim
