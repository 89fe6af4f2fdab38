#pragma once
// YAML text to a tree. Stricter than YAML: one document, UTF-8, no duplicate keys, no tags, anchors
// or aliases, no tab in an indentation, nothing deeper than kMaxDepth. What yaml-cpp accepts
// silently (duplicate keys, a quote that is never closed) is an error here.
#include <optional>
#include <string>

#include "sim/config/diagnostics.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// Returns nothing if the text as a whole cannot be read. A duplicate key is reported and dropped.
/// An empty text gives a null node.
std::optional<Node> parse_yaml(std::string text, std::shared_ptr<const TextSource> source,
                               Diagnostics& diagnostics);

}  // namespace tiersim
