#include "sim/config/overlay.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
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
  for (Entry& entry : above.entries.each()) {
    const std::size_t index = *to_index(entry.key);
    if (index < below.items.size()) {
      Node& item = below.items.each()[index];
      item = overlay(std::move(item), std::move(entry.value), diagnostics);
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

// A number that is stated anew does not keep the interval of the old one.
void drop_interval(Node& below, const Node& above) {
  if (below.find("value") == nullptr || above.find("value") == nullptr) return;
  if (above.find("ci95") == nullptr)
    std::erase_if(below.entries.edit(), [](const Entry& e) { return e.key == "ci95"; });
}

// A number that a file states anew does not keep the class and source of the old one, nor a class
// that is stated anew the source. So the reader asks for them. A value by --set needs neither.
void drop_provenance(Node& below, const Node& above) {
  for (const char* key : {"value", "class", "source"})
    if (below.find(key) == nullptr) return;
  const auto anew = [&](const char* key) {
    const Entry* entry = above.find(key);
    return entry != nullptr && !entry->value.origin.is_override();
  };
  if (!anew("value") && !anew("class")) return;
  std::erase_if(below.entries.edit(), [&](const Entry& e) {
    return e.key == "source" || (e.key == "class" && anew("value"));
  });
}

// True where the mapping gives attributes of a number but leaves its value to the layer below. The
// tree has no types; only a sourced number consists of these keys alone.
bool is_of_a_number_below(const Node& above) {
  constexpr std::array<std::string_view, 3> kBesideValue{"class", "source", "ci95"};
  return above.kind == NodeKind::mapping && !above.entries.empty() &&
         std::ranges::all_of(above.entries, [&](const Entry& entry) {
           return std::ranges::find(kBesideValue, entry.key) != kBesideValue.end();
         });
}

// A bare number as the mapping that it abbreviates. Every key is set, so that over a base it takes
// none from there.
Node spelled_out(Node number) {
  const Origin origin = number.origin;
  const auto text = [&](const char* words) {
    Node node;
    node.kind = NodeKind::scalar;
    node.scalar = words;
    node.origin = origin;
    return node;
  };
  Node all;
  all.kind = NodeKind::mapping;
  all.damaged = number.damaged;
  all.origin = origin;
  all.entries = {{{"value", origin, std::move(number)},
                  {"class", origin, text("assumed")},
                  {"source", origin, text(unstated_source(origin))}}};
  return all;
}

Node merge_mappings(Node below, Node above, Diagnostics& diagnostics) {
  drop_interval(below, above);
  drop_provenance(below, above);
  if (below.entries.empty()) below.entries = std::exchange(above.entries, {});
  for (Entry& entry : above.entries.each()) {
    Entry* known = below.edit(entry.key);
    if (known == nullptr) {
      below.entries.edit().push_back(std::move(entry));
      continue;
    }
    // A mapping that an option changes keeps the file's line as the origin of its key.
    const bool same_place =
        entry.value.kind == NodeKind::mapping && entry.value.origin.is_override();
    if (!same_place) known->key_origin = entry.key_origin;
    entry.value.removes |= entry.value.kind == NodeKind::null && entry.value.scalar == "~";
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
  if (below.kind == NodeKind::scalar && is_of_a_number_below(above))
    below = spelled_out(std::move(below));
  const bool merges = below.kind == NodeKind::mapping && above.kind == NodeKind::mapping;
  if (!merges || above.replaces) return above;
  return merge_mappings(std::move(below), std::move(above), diagnostics);
}

Node overlay_bases(Node below, Node above, Diagnostics& diagnostics) {
  return merge_mappings(std::move(below), std::move(above), diagnostics);
}

}  // namespace tiersim
