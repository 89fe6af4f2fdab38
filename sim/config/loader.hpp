#pragma once
// Loads files into one tree: reads the top-level file, lays the overrides over it, and replaces
// every `base` and every import by the contents of the named files. One Loader loads one document.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/base_files.hpp"
#include "sim/config/document.hpp"

namespace tiersim {

class Loader {
 public:
  Loader(const LoadOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  Node load_file(const std::filesystem::path& path);
  Node load_text(std::string text, const std::filesystem::path& name);

 private:
  enum class Schema : std::uint8_t { required, optional };

  std::optional<std::string> read(const std::filesystem::path& path, const Origin& named_at);
  std::optional<Node> parse(std::string text, const std::string& shown, Schema schema);
  bool take_schema(Node& root, const std::string& shown, Schema schema);
  Node finish_top(std::optional<Node> root, const std::filesystem::path& path);

  void expand(Node& node, const std::filesystem::path& folder, std::size_t depth);
  void lay_bases(Node& below, const Entry& base, const std::filesystem::path& folder,
                 std::size_t depth);
  void lay_import(Node& below, const Importer& importer, const Entry& entry,
                  const std::filesystem::path& folder, std::size_t depth);
  Node admitted(const NamedBase& named_base, Node root);
  /// Lays the files that `entry` names over `below`, with the first name on top.
  void lay_shelved(Node& below, const NamedBase& named_base, const Entry& entry,
                   const std::filesystem::path& folder, std::size_t depth);
  /// The names in the entry's value, one or a list; reports any other value.
  std::vector<const Node*> names_of(const Entry& entry);
  std::vector<std::filesystem::path> folders_for(const Node& name,
                                                 const std::filesystem::path& folder) const;
  std::optional<std::filesystem::path> find_shelved(const Node& name, const NamedBase& named_base,
                                                    const std::string& key,
                                                    const std::filesystem::path& folder);
  std::optional<std::filesystem::path> find_file(const Node& name,
                                                 const std::filesystem::path& folder,
                                                 const std::string& what);
  std::optional<Node> load_base(const Node& name, const std::filesystem::path& path,
                                std::size_t depth);
  std::shared_ptr<BaseFile> read_base(const Node& name, const std::filesystem::path& path);
  std::optional<Node> import_file(const Importer& importer, const Node& name,
                                  const std::filesystem::path& folder);
  std::optional<std::string> converted(const Importer& importer, const Node& name,
                                       const std::filesystem::path& path);
  std::optional<Node> parse_imported(const std::string& text, const Node& name,
                                     const std::filesystem::path& path);
  std::optional<Node> import_described(const Importer& importer, const Entry& entry,
                                       const std::filesystem::path& folder);
  bool admit(const Node& name, std::size_t nodes, std::size_t depth);
  const Importer* importer_of(const std::string& key) const;
  void report(const Origin& at, std::string message, std::string hint = {});

  const LoadOptions& options_;
  Diagnostics& diagnostics_;
  /// Small files, and null for those that failed, whose mistakes were reported.
  std::map<std::string, std::shared_ptr<const BaseFile>> loaded_;
  std::vector<std::filesystem::path> chain_;  // files being expanded, outermost first
  std::size_t nodes_ = 0;                     // in the whole configuration
};

}  // namespace tiersim
