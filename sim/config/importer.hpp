#pragma once
// Files of other formats, and files that are named briefly, as parts of a configuration. If a
// mapping has an importer's key,
//
//   model:
//     hf_config: llama/config.json
//     name: my-llama
//   gpu:
//     calibration: [h200/2026-11-21-ab, h100/2025-01-02-cd]
//
// the file is read and converted, and the mapping is laid over its values as over a base (they lie
// over the bases that the mapping has as well). The values have that file as origin. A describe()
// function names the key with Fields::importable(), so that help, schema and the check of misspelt
// keys know it.
//
// A NamedBase finds files of this project's own kinds by name. Such a file is loaded like a base
// file: its `schema` line must be of the mapping's kind, and it may have bases. With several names,
// each entry comes from the first file that has it. Where the files share a mapping (`kernels`),
// each entry of that mapping (one kernel) comes whole from the first file that has it, so that no
// entry mixes numbers of two files. The mapping that gives names does not replace the one below it,
// but all keys there that the NamedBase admits are replaced, also those that no file gives, so that
// only the names count; `none` instead of a name leaves none of these keys. A key in such a file
// that the NamedBase does not admit is a mistake, reported at the key.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// The reason why a file cannot be imported, reported at the importer's key, or at its place in the
/// file.
struct ImportProblem {
  std::string message;    ///< lower case, no full stop
  std::string hint = {};  ///< what to do about it; may be empty
  std::optional<Location> where = {};
};

/// `<folder>/<name>/<file>`, beside the file that gives the name or in the configuration root. A
/// name that is not there may also be a path: of a folder with `<file>`, or of such a file,
/// relative to the file that gives it (of an option, to the current folder) or absolute.
struct NamedBase {
  std::string folder;  ///< "calibration"
  std::string file;    ///< "gpu.yaml"
  /// Keys that such a file may have; empty if it may have all keys of the mapping.
  std::vector<std::string> keys = {};
};

struct Importer {
  std::string key;
  /// Converts the file's path and text to the YAML text of a mapping, or lists every problem. A
  /// mapping with a `schema:` line is accepted as that kind only. Strings of the file go through
  /// quotes.
  std::function<Expected<std::string, std::vector<ImportProblem>>(const std::filesystem::path& path,
                                                                  const std::string& text)>
      convert = {};
  /// Instead of `convert`, for a file of any size, which the importer reads itself: the YAML text,
  /// or nothing where the file or its description has mistakes, which go to `diagnostics`. The key
  /// takes the file's name, or a mapping with the name under `file` and more about the file:
  /// `described`, null for a name alone (Fields::importable_file()).
  std::function<std::optional<std::string>(const std::filesystem::path& path, const Node* described,
                                           Diagnostics& diagnostics)>
      read = {};
  /// Instead of `convert`: the key takes a name, or a list of names, of files of this NamedBase.
  std::optional<NamedBase> named_base = {};
};

}  // namespace tiersim
