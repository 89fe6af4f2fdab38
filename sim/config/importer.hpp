#pragma once
// Files of other formats as parts of a configuration. Where a mapping has an importer's key,
//
//   model:
//     hf_config: llama/config.json
//     name: my-llama
//
// the file is read and converted, and its values lie under the mapping as a base would (over the
// bases that the mapping has as well). They have that file as origin. A describe() function names
// the key with Fields::importable(), so that help, schema and misspelt keys know it.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Why a file cannot be imported: reported where the key stands.
struct ImportProblem {
  std::string message;    ///< lower case, no full stop
  std::string hint = {};  ///< what to do about it; may be empty
};

struct Importer {
  std::string key;
  /// From the file's path and text to the YAML text of a mapping, or every problem at once. With a
  /// `schema:` line the mapping is accepted as that kind only. Strings of the file go through
  /// quotes.
  std::function<Expected<std::string, std::vector<ImportProblem>>(const std::filesystem::path& path,
                                                                  const std::string& text)>
      convert;
};

}  // namespace tiersim
