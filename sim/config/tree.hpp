#pragma once
// A configuration as text in a tree, with the origin of every node. Values have no type yet: the
// describe() function that reads them gives it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"
#include "sim/config/shared_vector.hpp"

namespace tiersim {

/// A file, or one --set option.
struct TextSource {
  std::string file;   ///< as shown in diagnostics; "--set 'a.b=c'" for an override
  std::string label;  ///< for an override, the option as given; empty for a file
};

struct Origin {
  std::shared_ptr<const TextSource> source;  ///< null for a default
  int line = 1;                              ///< from 1
  int column = 1;                            ///< from 1, in bytes

  bool is_override() const { return source && !source->label.empty(); }
  Location location() const;
  /// "file:line", "--set a.b=c" or "default".
  std::string text() const;
};

/// The `schema:` line of a file that a mapping was made from.
struct SchemaTag {
  std::string kind;  ///< K of tiersim.K/v1
  Origin origin;
};

enum class NodeKind : std::uint8_t { null, scalar, sequence, mapping };

struct Node;
struct Entry;

struct Node {
  NodeKind kind = NodeKind::null;
  bool quoted = false;      ///< a scalar that is text whatever it looks like
  bool incomplete = false;  ///< a base of this mapping could not be loaded
  bool damaged = false;     ///< something in this very mapping was reported already
  bool removes = false;     ///< `~` over a key of a base: the key counts as absent
  bool replaces = false;    ///< as overlay, replaces the mapping below (it names a base)
  std::string scalar = {};
  SharedVector<Node> items;
  SharedVector<Entry> entries;
  std::vector<SchemaTag> schemas = {};
  Origin origin = {};

  /// nullptr if this is not a mapping or has no such key.
  const Entry* find(std::string_view key) const;
  /// The same, to change the entry.
  Entry* edit(std::string_view key);
  /// "'4800 GB/s'", "a list", "a mapping" or "nothing", for messages.
  std::string what() const;
};

struct Entry {
  std::string key;
  Origin key_origin;
  Node value;
};

/// Deepest mapping or list that a file may nest.
inline constexpr std::size_t kMaxDepth = 100;

/// The source of a number that states none: "command line" or "not stated".
const char* unstated_source(const Origin& origin);

/// Number of nodes in the tree, the root included.
std::size_t count_nodes(const Node& node);
/// Number of levels below the node.
std::size_t depth_of(const Node& node);
/// Origin of the key or list element at the dotted path, or of the deepest part of the path that
/// exists; `fallback` if there is none.
Origin origin_at(const Node& node, std::string_view path, const Origin& fallback);

}  // namespace tiersim
