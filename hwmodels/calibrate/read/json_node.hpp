#pragma once
// JSON with the line of every value, so that a mistake in a file of thousands of lines is reported
// with line and column. Repeated keys and invalid JSON are reported by the parser.
//
//  JsonNode root;
//  if (!parse_json("timing.json", text, root, diagnostics)) ...  // reported
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim {

struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  bool flag = false;
  bool whole = false;  ///< the number was written without fraction and exponent, and fits `integer`
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::string> keys;  ///< of an object: the keys of `items`
  std::vector<JsonNode> items;    ///< values of a list or an object
  int line = 1;                   ///< line of the member's key, or of the item
  int column = 1;

  /// The member of that name; null where there is none.
  const JsonNode* find(std::string_view key) const;
  /// The value for messages: "a list", "an object", "12", "'text'".
  std::string shown() const;
};

/// False, with a diagnostic, where `text` is invalid JSON or deeper than 64 levels.
bool parse_json(const std::string& file, std::string_view text, JsonNode& root,
                Diagnostics& diagnostics);

}  // namespace tiersim
