#include "hwmodels/calibrate/read/json_node.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

constexpr std::size_t kDeepest = 64;

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

// Builds the tree from the parser's events. Each event comes right after its token was read.
class TreeBuilder {
 public:
  TreeBuilder(const std::string& file, std::string_view text, JsonNode& root,
              Diagnostics& diagnostics)
      : file_(file),
        text_(text),
        root_(root),
        diagnostics_(diagnostics),
        read_(text.data()),
        counted_(text.data()) {}

  const char** read() { return &read_; }

  bool null() {
    add();
    return true;
  }
  bool boolean(bool value) {
    JsonNode& node = add();
    node.kind = JsonNode::Kind::boolean;
    node.flag = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    JsonNode& node = add_number(static_cast<double>(value));
    node.whole = true;
    node.integer = value;
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_integer(static_cast<std::int64_t>(value));
    }
    add_number(static_cast<double>(value));
    return true;
  }
  bool number_float(double value, const std::string& /*written*/) {
    add_number(value);
    return true;
  }
  bool string(std::string& value) {
    JsonNode& node = add();
    node.kind = JsonNode::Kind::text;
    node.text = std::move(value);
    return true;
  }
  // No text format has binary values.
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t /*size*/) { return open(JsonNode::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    const JsonNode& object = *open_.back();
    move_to(opening_quote());
    if (std::ranges::find(object.keys, value) != object.keys.end()) {
      return fail(fmt::format("key '{}' stands twice", value));
    }
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    move_to(read_ == text_.data() ? read_ : read_ - 1);
    std::string what = error.what();
    const std::size_t colon = what.rfind(": ");
    if (colon != std::string::npos) what = what.substr(colon + 2);
    return fail("this is no JSON: " + what);
  }

 private:
  // Moves forward only, so that counting lines takes linear time.
  void move_to(const char* place) {
    for (; counted_ < place; ++counted_) {
      column_ = *counted_ == '\n' ? 1 : column_ + 1;
      if (*counted_ == '\n') ++line_;
    }
  }
  bool fail(std::string message) {
    diagnostics_.report({{file_, line_, column_}, std::move(message)});
    return false;
  }
  // Start of the text whose closing quote was just read.
  const char* opening_quote() const {
    const auto escaped = [&](const char* place) {
      const char* first = place;
      while (first > text_.data() && first[-1] == '\\') --first;
      return (place - first) % 2 == 1;
    };
    const char* place = read_ - 2;
    while (place > text_.data() && (*place != '"' || escaped(place))) --place;
    return place;
  }
  JsonNode& add() {
    if (open_.empty()) return root_;
    JsonNode& parent = *open_.back();
    if (parent.kind == JsonNode::Kind::object) {
      parent.keys.push_back(std::move(key_));
    } else {
      move_to(read_ - 1);
    }
    JsonNode& node = parent.items.emplace_back();
    node.line = line_;
    node.column = column_;
    return node;
  }
  JsonNode& add_number(double value) {
    JsonNode& node = add();
    node.kind = JsonNode::Kind::number;
    node.number = value;
    return node;
  }
  bool open(JsonNode::Kind kind) {
    if (open_.size() == kDeepest) {
      return fail(fmt::format("lists and objects are nested more than {} deep", kDeepest));
    }
    JsonNode& node = add();
    node.kind = kind;
    open_.push_back(&node);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& file_;
  std::string_view text_;
  JsonNode& root_;
  Diagnostics& diagnostics_;
  const char* read_;
  const char* counted_;
  int line_ = 1;
  int column_ = 1;
  // Pointers stay valid: a list grows only when its last item is complete.
  std::vector<JsonNode*> open_;
  std::string key_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string JsonNode::shown() const {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return flag ? "true" : "false";
    case Kind::number:
      return whole ? fmt::format("{}", integer) : fmt::format("{:.6g}", number);
    case Kind::text:
      return fmt::format("'{}'", text);
    case Kind::list:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return {};
}

bool parse_json(const std::string& file, std::string_view text, JsonNode& root,
                Diagnostics& diagnostics) {
  TreeBuilder builder(file, text, root, diagnostics);
  const char* end = text.data() + text.size();
  return nlohmann::json::sax_parse(CountingIterator(text.data(), builder.read()),
                                   CountingIterator(end, builder.read()), &builder);
}

}  // namespace tiersim
