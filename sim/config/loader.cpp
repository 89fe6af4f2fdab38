#include "sim/config/loader.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/base/file_text.hpp"
#include "sim/config/overlay.hpp"
#include "sim/config/overrides.hpp"
#include "sim/config/scalars.hpp"
#include "sim/config/yaml_text.hpp"
#include "sim/config/yaml_tree.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

// Limits of a configuration with all bases, since bases of bases multiply its size.
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kMaxChain = 50;
constexpr std::string_view kNone = "none";  // instead of a name of a NamedBase

// One name for each file, for every path to it.
std::string identity(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return (error ? path : canonical).string();
}

bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void set_origins(Node& node, const Origin& origin) {
  node.origin = origin;
  for (Node& item : node.items.each()) set_origins(item, origin);
  for (Entry& entry : node.entries.each()) {
    entry.key_origin = origin;
    set_origins(entry.value, origin);
  }
}

// Names of all files of a NamedBase below its folder.
std::vector<std::string> names_below(const fs::path& folder, const std::string& file) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().filename() == file)
      names.push_back(at->path().parent_path().lexically_relative(folder).generic_string());
  return names;
}

// Marks the mappings within entries of the file, so that each replaces that of the next file whole.
Node with_whole_entries(Node root) {
  for (Entry& entry : root.entries.each())
    for (Entry& part : entry.value.entries.each())
      part.value.replaces |= part.value.kind == NodeKind::mapping;
  return root;
}

}  // namespace

void Loader::report(const Origin& at, std::string message, std::string hint) {
  diagnostics_.report({at.location(), std::move(message), std::move(hint)});
}

std::optional<std::string> Loader::read(const fs::path& path, const Origin& named_at) {
  auto text = file_text(path, kMaxTextBytes);
  if (text) return *std::move(text);
  report(named_at, fmt::format("cannot read '{}': {}", path.string(), text.error()));
  return std::nullopt;
}

std::optional<Node> Loader::parse(std::string text, const std::string& shown, Schema schema) {
  const auto source = std::make_shared<const TextSource>(TextSource{shown, ""});
  auto root = parse_yaml(std::move(text), source, diagnostics_);
  if (!root) return std::nullopt;
  if (root->kind == NodeKind::null) {
    report({source, 1, 1}, "the file is empty", "it begins with schema: tiersim.<kind>/v1");
    return std::nullopt;
  }
  if (root->kind != NodeKind::mapping) {
    report(root->origin, fmt::format("expected a mapping, found {}", root->what()));
    return std::nullopt;
  }
  if (!take_schema(*root, shown, schema)) return std::nullopt;
  return root;
}

// Moves the schema line from the entries to the tags.
bool Loader::take_schema(Node& root, const std::string& shown, Schema schema) {
  const Entry* entry = root.find("schema");
  if (entry == nullptr) {
    if (schema == Schema::optional) return true;
    report({root.origin.source, 1, 1}, "missing required key 'schema'",
           fmt::format("'{}' begins with schema: tiersim.<kind>/v1", shown));
    return false;
  }
  std::string text = entry->value.kind == NodeKind::scalar ? entry->value.scalar : "";
  const bool ours = text.starts_with("tiersim.");
  if (ours) text.erase(0, std::string("tiersim.").size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string kind = text.substr(0, slash);
  const bool known_version = text.substr(slash) == "/v1";
  if (!ours || !is_word(kind) || !known_version) {
    const std::string expected = ours && is_word(kind) ? kind : "<kind>";
    report(entry->value.origin,
           fmt::format("expected schema tiersim.{}/v1, found {}", expected, entry->value.what()));
    return false;
  }
  root.schemas.push_back({kind, entry->value.origin});
  std::erase_if(root.entries.edit(), [](const Entry& e) { return e.key == "schema"; });
  return true;
}

Node Loader::load_file(const fs::path& path) {
  const auto source = std::make_shared<const TextSource>(TextSource{path.string(), ""});
  auto text = read(path, {source, 1, 1});
  return finish_top(text ? parse(std::move(*text), path.string(), Schema::required) : std::nullopt,
                    path);
}

Node Loader::load_text(std::string text, const fs::path& name) {
  return finish_top(parse(std::move(text), name.string(), Schema::optional), name);
}

Node Loader::finish_top(std::optional<Node> root, const fs::path& path) {
  Node overrides = parse_overrides(options_.overrides, options_.importers, diagnostics_);
  if (!root) return {};
  nodes_ = count_nodes(*root);
  Node top = overlay_bases(std::move(*root), std::move(overrides), diagnostics_);
  chain_.push_back(path);
  expand(top, path.parent_path(), 0);
  return top;
}

// Children first: a child that names a base of its own replaces the base's value instead of
// merging.
void Loader::expand(Node& node, const fs::path& folder, std::size_t depth) {
  for (Node& item : node.items.each()) expand(item, folder, depth + 1);
  std::vector<Entry> bases;
  std::vector<Entry> imports;
  for (Entry& entry : node.entries.each()) {
    if (entry.key == "base")
      bases.push_back(entry);
    else if (importer_of(entry.key) != nullptr)
      imports.push_back(entry);
    else
      expand(entry.value, folder, depth + 1);
  }
  if (bases.empty() && imports.empty()) return;
  std::erase_if(node.entries.edit(),
                [&](const Entry& e) { return e.key == "base" || importer_of(e.key) != nullptr; });
  Node below;
  below.kind = NodeKind::mapping;
  below.origin = node.origin;
  for (const Entry& base : bases) lay_bases(below, base, folder, depth);
  for (const Entry& entry : imports)
    lay_import(below, *importer_of(entry.key), entry, folder, depth);
  const bool replaces = !bases.empty() || std::ranges::any_of(imports, [&](const Entry& entry) {
    return !importer_of(entry.key)->named_base;
  });
  node = overlay_bases(std::move(below), std::move(node), diagnostics_);
  node.replaces |= replaces;
}

void Loader::lay_bases(Node& below, const Entry& base, const fs::path& folder, std::size_t depth) {
  const auto names = names_of(base);
  below.incomplete = names.empty();
  for (const Node* name : names) {
    const auto path = find_file(*name, folder, "base file");
    auto root = path ? load_base(*name, *path, depth) : std::nullopt;
    if (root)
      below = overlay_bases(std::move(below), *std::move(root), diagnostics_);
    else
      below.incomplete = true;
  }
}

void Loader::lay_import(Node& below, const Importer& importer, const Entry& entry,
                        const fs::path& folder, std::size_t depth) {
  if (importer.named_base) return lay_shelved(below, *importer.named_base, entry, folder, depth);
  std::optional<Node> imported;
  if (entry.value.kind == NodeKind::scalar)
    imported = import_file(importer, entry.value, folder);
  else if (importer.read && entry.value.kind == NodeKind::mapping)
    imported = import_described(importer, entry, folder);
  else
    report(entry.value.origin,
           fmt::format("expected a file name as {}, found {}", entry.key, entry.value.what()));
  if (imported && admit(entry.value, count_nodes(*imported), depth + depth_of(*imported)))
    below = overlay_bases(std::move(below), std::move(*imported), diagnostics_);
  else
    below.incomplete = true;
}

// The file without the keys that a NamedBase does not admit; reports each of them.
Node Loader::admitted(const NamedBase& named_base, Node root) {
  if (named_base.keys.empty()) return root;
  const auto is_admitted = [&](const Entry& entry) {
    return std::ranges::find(named_base.keys, entry.key) != named_base.keys.end();
  };
  for (const Entry& entry : root.entries)
    if (!is_admitted(entry))
      report(entry.key_origin,
             fmt::format("a file of '{}' cannot have the key '{}'", named_base.folder, entry.key),
             detail::choice_hint(entry.key, named_base.keys));
  root.damaged |=
      std::erase_if(root.entries.edit(), [&](const Entry& e) { return !is_admitted(e); }) != 0;
  return root;
}

// Backwards, so that the first name lies on top.
void Loader::lay_shelved(Node& below, const NamedBase& named_base, const Entry& entry,
                         const fs::path& folder, std::size_t depth) {
  auto names = names_of(entry);
  Node all;
  all.kind = NodeKind::mapping;
  all.incomplete = names.empty();
  if (names.size() == 1 && names.front()->scalar == kNone) names.clear();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const auto path = find_shelved(**name, named_base, entry.key, folder);
    auto root = path ? load_base(**name, *path, depth) : std::nullopt;
    if (root)
      all = overlay_bases(std::move(all),
                          with_whole_entries(admitted(named_base, *std::move(root))), diagnostics_);
    else
      all.incomplete = true;
  }
  // What the names do not give is not taken from below either.
  for (const std::string& key : named_base.keys)
    if (all.find(key) == nullptr)
      all.entries.edit().push_back({.key = key, .key_origin = entry.key_origin, .value = {}});
  for (Entry& top : all.entries.each()) top.value.replaces = true;
  all.replaces = false;  // a file with bases replaces nothing but its own keys
  below = overlay_bases(std::move(below), std::move(all), diagnostics_);
}

std::optional<Node> Loader::import_file(const Importer& importer, const Node& name,
                                        const fs::path& folder) {
  const auto path = find_file(name, folder, "file");
  if (!path) return std::nullopt;
  const auto text = importer.read ? importer.read(*path, nullptr, diagnostics_)
                                  : converted(importer, name, *path);
  return text ? parse_imported(*text, name, *path) : std::nullopt;
}

std::optional<Node> Loader::import_described(const Importer& importer, const Entry& entry,
                                             const fs::path& folder) {
  const Entry* file = entry.value.find("file");
  if (file == nullptr || file->value.kind != NodeKind::scalar) {
    report(file == nullptr ? entry.key_origin : file->value.origin,
           fmt::format(
               "{}: {}", entry.key,
               file == nullptr ? "missing required key 'file'" : "file: expected a file name"));
    return std::nullopt;
  }
  const auto path = find_file(file->value, folder, "file");
  if (!path) return std::nullopt;
  const auto text = importer.read(*path, &entry.value, diagnostics_);
  return text ? parse_imported(*text, file->value, *path) : std::nullopt;
}

std::optional<std::string> Loader::converted(const Importer& importer, const Node& name,
                                             const fs::path& path) {
  const auto text = read(path, name.origin);
  if (!text) return std::nullopt;
  auto out = importer.convert(path, *text);
  if (out) return *std::move(out);
  for (const ImportProblem& problem : out.error())
    diagnostics_.report(
        {problem.where.value_or(name.origin.location()), problem.message, problem.hint});
  return std::nullopt;
}

std::optional<Node> Loader::parse_imported(const std::string& text, const Node& name,
                                           const fs::path& path) {
  const auto source = std::make_shared<const TextSource>(TextSource{path.string(), ""});
  Diagnostics faults;
  auto root = parse_yaml(text, source, faults);
  if (!faults.ok() || !root || root->kind != NodeKind::mapping) {
    const auto all = faults.list();
    report(name.origin, fmt::format("cannot import '{}'", path.string()),
           all.empty() ? "" : all.front().message);
    return std::nullopt;
  }
  set_origins(*root, {source, 1, 1});  // lines of the converted text are not lines of the file
  if (!take_schema(*root, path.string(), Schema::optional)) return std::nullopt;
  return root;
}

const Importer* Loader::importer_of(const std::string& key) const {
  const auto at = std::ranges::find(options_.importers, key, &Importer::key);
  return at == options_.importers.end() ? nullptr : &*at;
}

std::vector<const Node*> Loader::names_of(const Entry& entry) {
  std::vector<const Node*> names;
  if (entry.value.kind == NodeKind::scalar) names.push_back(&entry.value);
  for (const Node& item : entry.value.items) names.push_back(&item);
  const bool all_text =
      std::ranges::all_of(names, [](const Node* n) { return n->kind == NodeKind::scalar; });
  if (all_text && !names.empty()) return names;
  report(entry.value.origin,
         fmt::format("expected a {} or a list of them as {}, found {}",
                     entry.key == "base" ? "file name" : "name", entry.key, entry.value.what()));
  return {};
}

std::vector<fs::path> Loader::folders_for(const Node& name, const fs::path& folder) const {
  // Names in an option are looked up in the shipped configurations first, then in the current
  // folder.
  const bool option = name.origin.is_override();
  std::vector<fs::path> folders{option ? fs::path() : folder};
  if (!options_.config_root.empty() && !fs::path(name.scalar).is_absolute())
    folders.insert(option ? folders.begin() : folders.end(), options_.config_root);
  return folders;
}

std::optional<fs::path> Loader::find_shelved(const Node& name, const NamedBase& named_base,
                                             const std::string& key, const fs::path& folder) {
  std::vector<std::string> there;
  std::string looked;
  const auto add_looked = [&](const fs::path& path) {
    looked += (looked.empty() ? "" : " and ") + path.string();
  };
  const std::vector<fs::path> folders = folders_for(name, folder);
  const bool is_path = name.scalar.starts_with('.') || fs::path(name.scalar).is_absolute();
  for (const fs::path& from : folders) {
    const fs::path all = (from / named_base.folder).lexically_normal();
    const auto names = names_below(all, named_base.file);
    if (std::ranges::find(names, name.scalar) != names.end())
      return all / name.scalar / named_base.file;
    there.insert(there.end(), names.begin(), names.end());
    if (!is_path) add_looked(all);
  }
  for (const fs::path& from : folders) {
    const fs::path path = (from / name.scalar).lexically_normal();
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
    if (fs::is_regular_file(path / named_base.file, error)) return path / named_base.file;
    if (is_path) add_looked(path / named_base.file);
  }
  std::ranges::sort(there);
  there.erase(std::unique(there.begin(), there.end()), there.end());
  report(name.origin, fmt::format("there is no {} '{}'", key, name.scalar),
         is_path         ? "looked for " + looked
         : there.empty() ? "there is none in " + looked
                         : detail::choice_hint(name.scalar, there));
  return std::nullopt;
}

std::optional<fs::path> Loader::find_file(const Node& name, const fs::path& folder,
                                          const std::string& what) {
  std::string looked;
  for (const fs::path& from : folders_for(name, folder)) {
    const fs::path path = (from / name.scalar).lexically_normal();
    std::error_code error;
    if (fs::exists(path, error)) return path;
    looked += (looked.empty() ? "" : " and ") + path.string();
  }
  report(name.origin, fmt::format("there is no {} '{}'", what, name.scalar),
         "looked for " + looked);
  return std::nullopt;
}

std::shared_ptr<BaseFile> Loader::read_base(const Node& name, const fs::path& path) {
  auto text = read(path, name.origin);
  auto root = text ? parse(std::move(*text), path.string(), Schema::required) : std::nullopt;
  if (!root) return nullptr;
  auto file = std::make_shared<BaseFile>();
  file->root = std::move(*root);
  chain_.push_back(path);
  expand(file->root, path.parent_path(), 0);
  chain_.pop_back();
  file->nodes = count_nodes(file->root);
  file->depth = depth_of(file->root);
  return file;
}

// Small files are kept, as they may be the base of many mappings. A large one is given away, since
// a copy at each level of bases would be most of the memory; it is read again where it is named
// again.
std::optional<Node> Loader::load_base(const Node& name, const fs::path& path, std::size_t depth) {
  const std::string id = identity(path);
  const auto in_chain = std::ranges::find(chain_, id, identity);
  if (in_chain != chain_.end()) {
    std::string text;
    for (auto it = in_chain; it != chain_.end(); ++it) text += it->string() + " -> ";
    report(name.origin, "base files form a cycle", text + path.string());
    return std::nullopt;
  }
  if (chain_.size() >= kMaxChain) {
    report(name.origin, fmt::format("more than {} base files below each other", kMaxChain));
    return std::nullopt;
  }
  const auto known = loaded_.find(id);
  auto file = known != loaded_.end() ? known->second
              : options_.bases       ? options_.bases->find(id)
                                     : nullptr;
  if (known != loaded_.end() && !file) return std::nullopt;
  std::shared_ptr<BaseFile> own;
  if (!file) file = own = read_base(name, path);
  // After a mistake anywhere, a base of this one may be missing without a mistake of its own.
  const bool stored = options_.bases && diagnostics_.ok();
  if (own && stored) options_.bases->keep(id, file);
  constexpr std::size_t kSmall = 2000;  // nodes
  const bool kept = stored || !file || file->nodes <= kSmall;
  if (kept) loaded_.emplace(id, file);
  if (!file || !admit(name, file->nodes, depth + file->depth)) return std::nullopt;
  if (own && !kept) return std::move(own->root);
  return file->root;
}

// True where the configuration may grow by `nodes` values; reports a mistake otherwise.
bool Loader::admit(const Node& name, std::size_t nodes, std::size_t depth) {
  nodes_ += nodes;
  const bool too_deep = depth > kMaxDepth;
  if (nodes_ <= kMaxNodes && !too_deep) return true;
  report(name.origin, too_deep ? fmt::format("nested deeper than {} levels", kMaxDepth)
                               : fmt::format("more than {} values with all bases", kMaxNodes));
  return false;
}

}  // namespace tiersim
