#pragma once
// JSON as a tree of values with their places: the one strict reader of files that programs write,
// records and timings among them. Repeated keys and invalid JSON are reported by the parser.
//
//   JsonDocument document;
//   if (!parse_json("timings.json", text, document, diagnostics)) ...  // reported
//   for (const JsonNode entry : document.root().find("benchmarks")) ...
//
// The loader of configurations could read these files too, since JSON is YAML, but it is too slow:
// of 100 MB of timings, yaml-cpp takes 9.7 s of processor time for its events alone, and the
// loader's tree 13 s. This reader takes 1.0 s, of which nlohmann's parser takes 0.9 s.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim {

class JsonDocument;

/// One value of a document, which must outlive the node; a default node is none. A question that
/// does not suit the kind of the value gives 0, false or an empty result.
class JsonNode {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };
  class Iterator;

  JsonNode() = default;
  explicit operator bool() const { return document_ != nullptr; }

  Kind kind() const;
  bool flag() const;
  /// True for a number without fraction and exponent that fits `integer`.
  bool is_whole() const;
  std::int64_t integer() const;
  double number() const;
  std::string_view text() const;

  /// The entries of a list, or the members of an object, in the order of the text.
  std::size_t size() const;
  Iterator begin() const;
  Iterator end() const;
  /// The key of a member of an object.
  std::string_view key() const;
  /// The member of an object; not there where it has none.
  JsonNode find(std::string_view key) const;

  /// Place of the member's key, or of the entry; from 1, in bytes.
  int line() const;
  int column() const;
  /// The text of a list or an object, as the document has it.
  std::string_view written() const;
  /// The value for messages: "a list", "an object", "12", "'text'".
  std::string shown() const;

 private:
  friend class JsonDocument;
  JsonNode(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

/// The reason to refuse a text.
struct JsonFault {
  int line = 1;
  int column = 1;
  std::string message;
  bool is_json = false;  ///< true of JSON that repeats a key, is too deep or too long
};

/// A parsed text. Its values lie one after the other in one array, each with the index behind its
/// last part, so that a value costs no allocation. Text without escapes is not copied.
class JsonDocument {
 public:
  JsonDocument() = default;
  JsonDocument(const JsonDocument&) = delete;  // nodes point to it
  JsonDocument& operator=(const JsonDocument&) = delete;

  /// Called once. `text` must outlive the document; at most 64 levels deep and 4 GB long.
  std::optional<JsonFault> parse(std::string_view text);
  /// The value of a text that was parsed without fault.
  JsonNode root() const { return {this, 0}; }

 private:
  friend class JsonNode;
  friend class JsonNode::Iterator;
  class Builder;

  /// A part of `text_`, or of `decoded_` for text with escapes.
  struct Span {
    std::uint32_t begin;
    std::uint32_t size;
  };
  struct Cell {
    union {
      std::int64_t integer;
      double number;
      bool flag;
      Span text;
      Span written;  // the text of a list or an object
    };
    Span key;
    std::uint32_t place;  // offset in the text
    std::uint32_t next;   // index of the cell behind this value and its parts
    std::uint32_t size;   // entries of a list or an object
    JsonNode::Kind kind;
    bool whole;
    bool escaped_text;  // the span is one of `decoded_`
    bool escaped_key;
  };
  struct Place {
    int line;
    int column;
  };

  std::string_view text_of(Span span, bool escaped) const {
    const std::string_view all = escaped ? std::string_view(decoded_) : text_;
    return all.substr(span.begin, span.size);
  }
  Place place_of(std::uint32_t at) const;

  std::string_view text_;
  std::string decoded_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> line_ends_;  // offsets of the line breaks
};

class JsonNode::Iterator {
 public:
  JsonNode operator*() const { return {document_, index_}; }
  Iterator& operator++() {
    index_ = document_->cells_[index_].next;
    return *this;
  }
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  friend class JsonNode;
  friend class JsonDocument;
  Iterator(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  const JsonDocument* document_;
  std::uint32_t index_;
};

/// False, with a diagnostic, where `text` is refused.
bool parse_json(const std::string& file, std::string_view text, JsonDocument& document,
                Diagnostics& diagnostics);

}  // namespace tiersim
