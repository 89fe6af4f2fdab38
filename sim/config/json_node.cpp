#include "sim/config/json_node.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongest = std::numeric_limits<std::uint32_t>::max();
// Keys of an object are compared one by one up to this number.
constexpr std::size_t kFewKeys = 32;

// An iterator over a text that reports the parser's position through `read`.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *read_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** read_;
};

}  // namespace

// Fills the document from the parser's events. Each event comes right after its token was read.
class JsonDocument::Builder {
 public:
  explicit Builder(JsonDocument& document)
      : out_(document), begin_(document.text_.data()), read_(begin_) {}

  const char** read() { return &read_; }
  std::optional<JsonFault> take_fault() { return std::move(fault_); }

  bool null() {
    add(JsonNode::Kind::null);
    return true;
  }
  bool boolean(bool value) {
    add(JsonNode::Kind::boolean).flag = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    Cell& cell = add(JsonNode::Kind::number);
    cell.whole = true;
    cell.integer = value;
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number_integer(static_cast<std::int64_t>(value));
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(double value, const std::string& /*written*/) {
    add(JsonNode::Kind::number).number = value;
    return true;
  }
  bool string(const std::string& value) {
    const Written written = written_of(value);
    Cell& cell = add(JsonNode::Kind::text);
    cell.text = written.span;
    cell.escaped_text = written.escaped;
    return true;
  }
  // No text format has binary values.
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t /*size*/) { return open(JsonNode::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& value) {
    key_ = written_of(value);
    if (!is_new_key(value)) return fail(key_.quote, fmt::format("key '{}' stands twice", value));
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    std::string what = error.what();
    const std::size_t colon = what.rfind(": ");
    if (colon != std::string::npos) what = what.substr(colon + 2);
    return fail(offset(read_ == begin_ ? read_ : read_ - 1), "this is no JSON: " + what, false);
  }

 private:
  struct Written {
    Span span;
    bool escaped;
    std::uint32_t quote;  // offset of the opening one
  };
  struct Open {
    std::uint32_t index;
    std::unique_ptr<std::unordered_set<std::string>> keys = {};  // set for an object with many keys
  };

  std::uint32_t offset(const char* place) const {
    return static_cast<std::uint32_t>(place - begin_);
  }
  bool fail(std::uint32_t at, std::string message, bool is_json = true) {
    const Place place = out_.place_of(at);
    fault_ = JsonFault{place.line, place.column, std::move(message), is_json};
    return false;
  }
  // Start of the text whose closing quote was just read.
  const char* opening_quote() const {
    const auto escaped = [&](const char* place) {
      const char* first = place;
      while (first > begin_ && first[-1] == '\\') --first;
      return (place - first) % 2 == 1;
    };
    const char* place = read_ - 2;
    while (place > begin_ && (*place != '"' || escaped(place))) --place;
    return place;
  }
  // An escape is longer than its character, so equal sizes show that there is none.
  Written written_of(const std::string& value) {
    const std::uint32_t quote = offset(opening_quote());
    const auto size = static_cast<std::uint32_t>(value.size());
    if (offset(read_) - quote == size + 2) return {{quote + 1, size}, false, quote};
    const auto begin = static_cast<std::uint32_t>(out_.decoded_.size());
    out_.decoded_ += value;
    return {{begin, size}, true, quote};
  }
  bool is_new_key(const std::string& key) {
    Open& object = open_.back();
    const auto first = JsonNode(&out_, object.index).begin();
    const auto last = JsonNode::Iterator(&out_, static_cast<std::uint32_t>(out_.cells_.size()));
    if (out_.cells_[object.index].size < kFewKeys) {
      for (auto it = first; it != last; ++it)
        if ((*it).key() == key) return false;
      return true;
    }
    if (object.keys == nullptr) {
      object.keys = std::make_unique<std::unordered_set<std::string>>();
      for (auto it = first; it != last; ++it) object.keys->emplace((*it).key());
    }
    return object.keys->insert(key).second;
  }
  Cell& add(JsonNode::Kind kind) {
    Cell& cell = out_.cells_.emplace_back();
    cell.kind = kind;
    cell.next = static_cast<std::uint32_t>(out_.cells_.size());
    if (open_.empty()) return cell;
    Cell& parent = out_.cells_[open_.back().index];
    ++parent.size;
    const bool member = parent.kind == JsonNode::Kind::object;
    cell.place = member ? key_.quote : offset(read_ - 1);
    if (member) {
      cell.key = key_.span;
      cell.escaped_key = key_.escaped;
    }
    return cell;
  }
  bool open(JsonNode::Kind kind) {
    const std::uint32_t bracket = offset(read_ - 1);
    if (open_.size() == kDeepest)
      return fail(bracket, fmt::format("lists and objects are nested more than {} deep", kDeepest));
    add(kind).written.begin = bracket;
    open_.push_back({static_cast<std::uint32_t>(out_.cells_.size() - 1)});
    return true;
  }
  bool close() {
    Cell& cell = out_.cells_[open_.back().index];
    cell.next = static_cast<std::uint32_t>(out_.cells_.size());
    cell.written.size = offset(read_) - cell.written.begin;
    open_.pop_back();
    return true;
  }

  JsonDocument& out_;
  const char* begin_;
  const char* read_;
  std::vector<Open> open_;
  Written key_ = {};
  std::optional<JsonFault> fault_;
};

std::optional<JsonFault> JsonDocument::parse(std::string_view text) {
  if (text.size() > kLongest) return JsonFault{1, 1, "this is longer than 4 GB", true};
  text_ = text;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    line_ends_.push_back(static_cast<std::uint32_t>(at));
  cells_.reserve(text.size() / 24 + 1);
  Builder builder(*this);
  const char* end = text.data() + text.size();
  nlohmann::json::sax_parse(CountingIterator(text.data(), builder.read()),
                            CountingIterator(end, builder.read()), &builder);
  return builder.take_fault();
}

JsonDocument::Place JsonDocument::place_of(std::uint32_t at) const {
  const auto after = std::ranges::lower_bound(line_ends_, at);
  const auto lines = after - line_ends_.begin();
  const std::uint32_t line_begin = lines == 0 ? 0 : *std::prev(after) + 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(at - line_begin) + 1};
}

JsonNode::Kind JsonNode::kind() const {
  return document_->cells_[index_].kind;
}
bool JsonNode::flag() const {
  return kind() == Kind::boolean && document_->cells_[index_].flag;
}
bool JsonNode::is_whole() const {
  return document_->cells_[index_].whole;
}
std::int64_t JsonNode::integer() const {
  return is_whole() ? document_->cells_[index_].integer : 0;
}
double JsonNode::number() const {
  if (kind() != Kind::number) return 0;
  return is_whole() ? static_cast<double>(integer()) : document_->cells_[index_].number;
}
std::string_view JsonNode::text() const {
  if (kind() != Kind::text) return {};
  const auto& cell = document_->cells_[index_];
  return document_->text_of(cell.text, cell.escaped_text);
}
std::size_t JsonNode::size() const {
  return document_->cells_[index_].size;
}
JsonNode::Iterator JsonNode::begin() const {
  return {document_, index_ + 1};
}
JsonNode::Iterator JsonNode::end() const {
  return {document_, document_->cells_[index_].next};
}
std::string_view JsonNode::key() const {
  const auto& cell = document_->cells_[index_];
  return document_->text_of(cell.key, cell.escaped_key);
}

JsonNode JsonNode::find(std::string_view key) const {
  if (kind() == Kind::object)
    for (const JsonNode member : *this)
      if (member.key() == key) return member;
  return {};
}

int JsonNode::line() const {
  return document_->place_of(document_->cells_[index_].place).line;
}
int JsonNode::column() const {
  return document_->place_of(document_->cells_[index_].place).column;
}

std::string_view JsonNode::written() const {
  if (kind() != Kind::list && kind() != Kind::object) return {};
  return document_->text_of(document_->cells_[index_].written, false);
}

std::string JsonNode::shown() const {
  switch (kind()) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return flag() ? "true" : "false";
    case Kind::number:
      return is_whole() ? fmt::format("{}", integer()) : fmt::format("{:.6g}", number());
    case Kind::text:
      return fmt::format("'{}'", text());
    case Kind::list:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return {};
}

bool parse_json(const std::string& file, std::string_view text, JsonDocument& document,
                Diagnostics& diagnostics) {
  const auto fault = document.parse(text);
  if (fault) diagnostics.report({{file, fault->line, fault->column}, fault->message});
  return !fault;
}

}  // namespace tiersim
