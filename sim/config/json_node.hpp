#pragma once
// JSON text as a tree of values with their places: the one strict reader of JSON, for records,
// timings and other files that programs write. Repeated keys and text that is no JSON are mistakes
// here already.
//
//   JsonDocument document;
//   if (!parse_json("timings.json", text, document, diagnostics)) ...  // said why
//   for (const JsonNode entry : document.root().find("benchmarks")) ...
//
// The loader of configurations reads JSON as well, since it is YAML, but not files of this size: of
// 100 MB of timings, yaml-cpp needs 9.7 s of processor time for its events alone and the loader's
// tree 13 s, against PLACEHOLDER s here, of which nlohmann's parser takes 0.9 s. So configurations
// are YAML and go through the loader, and what programs write is JSON and is read here.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim {

class JsonDocument;

/// One value of a document, which must outlive it; a default one is not there. What is asked of a
/// node of another kind is 0, empty or false.
class JsonNode {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };
  class Iterator;

  JsonNode() = default;
  explicit operator bool() const { return document_ != nullptr; }

  Kind kind() const;
  bool flag() const;
  /// The number was written without fraction and exponent, and fits `integer`.
  bool is_whole() const;
  std::int64_t integer() const;
  double number() const;
  std::string_view text() const;

  /// The entries of a list, or the members of an object in the order of the text.
  std::size_t size() const;
  Iterator begin() const;
  Iterator end() const;
  /// Of a member of an object; empty otherwise.
  std::string_view key() const;
  /// The member of an object; not there where it has none.
  JsonNode find(std::string_view key) const;

  /// Of the member's key, or of the entry; from 1, in bytes.
  int line() const;
  int column() const;
  /// A list or an object as it stands in the text.
  std::string_view written() const;
  /// "a list", "an object", "12", "'text'": for messages.
  std::string shown() const;

 private:
  friend class JsonDocument;
  JsonNode(const JsonDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}

  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

/// The reason why a text is no document.
struct JsonFault {
  int line = 1;
  int column = 1;
  std::string message;
  bool is_json = false;  ///< it is, but repeats a key, or is too deep or too long to be read
};

/// The values lie one after the other in one array, each with the place of what follows it: a node
/// costs no allocation, and text without escapes is not copied.
class JsonDocument {
 public:
  JsonDocument() = default;
  JsonDocument(const JsonDocument&) = delete;  // nodes point to it
  JsonDocument& operator=(const JsonDocument&) = delete;

  /// Once a document. `text` must outlive it. At most 64 levels deep, at most 4 GB.
  std::optional<JsonFault> parse(std::string_view text);
  /// Of a text that was parsed without fault.
  JsonNode root() const { return {this, 0}; }

 private:
  friend class JsonNode;
  friend class JsonNode::Iterator;
  class Builder;

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
      Span written;  // of a list or an object
    };
    Span key;
    std::uint32_t place;  // in the text
    std::uint32_t next;   // index of the cell behind this value and all that is in it
    std::uint32_t size;   // of a list or an object
    JsonNode::Kind kind;
    bool whole;
    bool escaped_text;  // had escapes, so that it is in `decoded_`
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
  std::vector<std::uint32_t> line_ends_;  // where the line breaks stand
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

/// False, with a diagnostic, where `text` is no document.
bool parse_json(const std::string& file, std::string_view text, JsonDocument& document,
                Diagnostics& diagnostics);

}  // namespace tiersim
