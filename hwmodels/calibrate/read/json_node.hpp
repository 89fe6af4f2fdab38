#pragma once
// JSON with the place of everything in it, so that a mistake in a file of thousands of lines is
// said with line and column. Repeated keys and text that is no JSON are mistakes here already.
//
//  JsonNode root;
//  if (!parse_json("timing.json", text, root, diagnostics)) ...  // said why
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
  std::vector<std::string> keys;  ///< of an object, as `items`
  std::vector<JsonNode> items;    ///< of a list or an object
  int line = 1;                   ///< of the member's key, or of the item
  int column = 1;

  /// Null where there is none.
  const JsonNode* find(std::string_view key) const;
  /// "a list", "an object", "12", "'text'": for messages.
  std::string shown() const;
};

/// False, with a diagnostic, where `text` is no JSON. At most 64 levels deep.
bool parse_json(const std::string& file, std::string_view text, JsonNode& root,
                Diagnostics& diagnostics);

}  // namespace tiersim
