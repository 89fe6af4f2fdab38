#pragma once
// Files of other formats, and files that go by a short name, as parts of a configuration. Where a
// mapping has an importer's key,
//
//   model:
//     hf_config: llama/config.json
//     name: my-llama
//   gpu:
//     calibration: [h200/2026-11-21-ab, h100/2025-01-02-cd]
//
// the file is read and converted, and its values lie under the mapping as a base would (over the
// bases that the mapping has as well). They have that file as origin. A describe() function names
// the key with Fields::importable(), so that help, schema and misspelt keys know it.
//
// A NamedBase stands for files of our own by name: such a file is loaded as a base file is, with
// its `schema` line, which must be of the kind of the mapping, and with bases of its own. Of
// several names the first whose file has an entry gives it, and where the files share a mapping
// (`kernels`), the first that has an entry of that (one kernel) gives it whole, so that no number
// of one file gets between those of another. The mapping that gives names does not replace the one
// below it, but what the files say replaces the same keys there: the names are all that counts. A
// key that files of the named_base may not have is a mistake at its place.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Why a file cannot be imported: reported where the key stands.
struct ImportProblem {
  std::string message;    ///< lower case, no full stop
  std::string hint = {};  ///< what to do about it; may be empty
};

/// `<folder>/<name>/<file>`, beside the file that gives the name or in the configuration root.
struct NamedBase {
  std::string folder;  ///< "calibration"
  std::string file;    ///< "gpu.yaml"
  /// What such a file may have; empty where anything that the mapping has.
  std::vector<std::string> keys = {};
};

struct Importer {
  std::string key;
  /// From the file's path and text to the YAML text of a mapping, or every problem at once. With a
  /// `schema:` line the mapping is accepted as that kind only. Strings of the file go through
  /// quotes.
  std::function<Expected<std::string, std::vector<ImportProblem>>(const std::filesystem::path& path,
                                                                  const std::string& text)>
      convert = {};
  /// Instead of `convert`: the key takes a name, or a list of names, of files on this named_base.
  std::optional<NamedBase> named_base = {};
};

}  // namespace tiersim
