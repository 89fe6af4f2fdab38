#include "sim/config/overlay.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tiersim {
namespace {

std::optional<std::size_t> to_index(const std::string& text) {
  std::size_t index = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc{} || at != end) return std::nullopt;
  return index;
}

bool addresses_elements(const Node& above) {
  return above.kind == NodeKind::mapping && above.origin.is_override() && !above.entries.empty() &&
         std::ranges::all_of(above.entries,
                             [](const Entry& e) { return to_index(e.key).has_value(); });
}

Node overlay_elements(Node below, Node above, Diagnostics& diagnostics) {
  for (Entry& entry : above.entries) {
    const std::size_t index = *to_index(entry.key);
    if (index < below.items.size()) {
      below.items[index] =
          overlay(std::move(below.items[index]), std::move(entry.value), diagnostics);
      continue;
    }
    diagnostics.report(
        {entry.key_origin.location(), fmt::format("the list has no element {}", index),
         below.items.empty() ? "it is empty"
                             : fmt::format("the last is {}", below.items.size() - 1)});
    below.damaged = true;
  }
  return below;
}

// A number that is stated anew leaves the interval of the old one behind.
void drop_interval(Node& below, const Node& above) {
  if (below.find("value") == nullptr || above.find("value") == nullptr) return;
  if (above.find("ci95") == nullptr)
    std::erase_if(below.entries, [](const Entry& e) { return e.key == "ci95"; });
}

Node merge_mappings(Node below, Node above, Diagnostics& diagnostics) {
  drop_interval(below, above);
  for (Entry& entry : above.entries) {
    Entry* known = below.find(entry.key);
    if (known == nullptr) {
      below.entries.push_back(std::move(entry));
      continue;
    }
    // Where a mapping starts is of use to a reader of the file, not where an option changes it.
    const bool same_place =
        entry.value.kind == NodeKind::mapping && entry.value.origin.is_override();
    if (!same_place) known->key_origin = entry.key_origin;
    known->value = overlay(std::move(known->value), std::move(entry.value), diagnostics);
  }
  if (above.origin.source && !above.origin.is_override()) below.origin = above.origin;
  below.incomplete |= above.incomplete;
  below.damaged |= above.damaged;
  below.replaces |= above.replaces;
  std::ranges::move(above.schemas, std::back_inserter(below.schemas));
  return below;
}

}  // namespace

Node overlay(Node below, Node above, Diagnostics& diagnostics) {
  if (below.kind == NodeKind::sequence && addresses_elements(above))
    return overlay_elements(std::move(below), std::move(above), diagnostics);
  const bool merges = below.kind == NodeKind::mapping && above.kind == NodeKind::mapping;
  if (!merges || above.replaces) return above;
  return merge_mappings(std::move(below), std::move(above), diagnostics);
}

Node overlay_bases(Node below, Node above, Diagnostics& diagnostics) {
  return merge_mappings(std::move(below), std::move(above), diagnostics);
}

}  // namespace tiersim
