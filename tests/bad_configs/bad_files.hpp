#pragma once
// A folder of files with mistakes, and beside each, word for word, what its user is told:
// name.yaml and name.expected.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"

namespace tiersim::testing {

class BadFiles {
 public:
  /// A folder below tests/bad_configs; "" for that folder itself.
  explicit BadFiles(const std::string& folder)
      : folder_(std::filesystem::path(TIERSIM_SOURCE_DIR) / "tests" / "bad_configs") {
    if (!folder.empty()) folder_ /= folder;
  }

  /// Names of the files without extension, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
    std::ranges::sort(out);
    return out;
  }

  std::string expected(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / (name + ".expected"), std::ios::binary).rdbuf();
    return text.str();
  }

  /// What the user of the file is told, with paths relative to the folder.
  template <class Config>
  std::string told(const std::string& name, std::string_view kind,
                   const LoadOptions& options = {}) const {
    Diagnostics diagnostics;
    const Document document = load_document(folder_ / (name + ".yaml"), options, diagnostics);
    static_cast<void>(read<Config>(document, kind, diagnostics));
    std::string text = diagnostics.text();
    const std::string prefix = folder_.string() + '/';
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

 private:
  std::filesystem::path folder_;
};

inline std::filesystem::path shipped_configs() {
  return std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
}

}  // namespace tiersim::testing
