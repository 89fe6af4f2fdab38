#pragma once
// A configuration as loaded: the tree of a file with its bases and --set overrides merged in, every
// value with its origin. describe.hpp reads it into a struct.
//
// Every file begins with `schema: tiersim.<kind>/v1`. `base: file` or `base: [files]` may stand in
// any mapping: the files are loaded with their own bases, merged in order, and what else stands in
// the mapping lies over them. A base is looked for beside the file that names it, then in the
// configuration root. Files of other formats are imported by keys of their own (importer.hpp).
// Overrides lie over everything (overrides.hpp).
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/diagnostics.hpp"
#include "sim/config/importer.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

struct LoadOptions {
  std::vector<std::string> overrides = {};  ///< "a.b.c=value", as given to --set
  std::filesystem::path config_root = {};   ///< the shipped configs; may be empty
  std::vector<Importer> importers = {};     ///< keys that name files of other formats
};

class Document {
 public:
  Document() = default;
  explicit Document(Node root) : root_(std::move(root)) {}

  /// A mapping; null when the document could not be loaded at all.
  const Node& root() const { return root_; }
  Node take_root() && { return std::move(root_); }
  /// Where the value at the dotted path stands; its nearest enclosing mapping where it is a
  /// default.
  Location locate(std::string_view path) const;

 private:
  Node root_;
};

/// Loads a file. Mistakes go to `diagnostics`; what could be loaded is returned, so that reading it
/// finds the others.
Document load_document(const std::filesystem::path& path, const LoadOptions& options,
                       Diagnostics& diagnostics);

/// The same from text, for records and tests: `schema` may be missing. `name` stands for the file
/// in diagnostics, and bases are looked for in its folder.
Document load_text(std::string text, const std::filesystem::path& name, const LoadOptions& options,
                   Diagnostics& diagnostics);

}  // namespace tiersim
