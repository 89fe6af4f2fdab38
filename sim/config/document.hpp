#pragma once
// A configuration as loaded: the tree of a file, with its bases and --set overrides merged in and
// the origin of every value. describe.hpp reads it into a struct.
//
// Every file begins with `schema: tiersim.<kind>/v1`. `base: file` or `base: [files]` may stand in
// any mapping: the files are loaded with their own bases and merged in order, and the other keys of
// the mapping are laid over them. A base is looked up beside the file that names it, then in the
// configuration root. Files of other formats are imported by keys of their own (importer.hpp).
// Overrides are laid over everything (overrides.hpp).
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/base_files.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/importer.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

struct LoadOptions {
  std::vector<std::string> overrides = {};  ///< "a.b.c=value", as given to --set
  std::filesystem::path config_root = {};   ///< the shipped configs; may be empty
  std::vector<Importer> importers = {};     ///< keys that name files of other formats
  std::shared_ptr<BaseFiles> bases =
      {};  ///< base files of earlier documents; null: each document reads its own
};

class Document {
 public:
  Document() = default;
  explicit Document(Node root) : root_(std::move(root)) {}

  /// A mapping; null if nothing of the document could be loaded.
  const Node& root() const { return root_; }
  Node take_root() && { return std::move(root_); }
  /// Location of the value at the dotted path; for a default, that of its nearest enclosing
  /// mapping.
  Location locate(std::string_view path) const;

 private:
  Node root_;
};

/// Loads a file. Mistakes go to `diagnostics`. The result holds the parts that could be loaded, so
/// that reading it finds further mistakes.
Document load_document(const std::filesystem::path& path, const LoadOptions& options,
                       Diagnostics& diagnostics);

/// The same from text, for records and tests: `schema` may be missing. `name` stands for the file
/// in diagnostics, and bases are looked up in its folder.
Document load_text(std::string text, const std::filesystem::path& name, const LoadOptions& options,
                   Diagnostics& diagnostics);

}  // namespace tiersim
