#pragma once
// Files with mistakes and, word for word, what the user of each is told: the cases of a file of
// this folder (tests/support/case_file.hpp).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "tests/support/case_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tiersim::testing {

class BadFiles {
 public:
  /// The cases of tests/bad_configs/<name>.txt. They are written to a folder when one is asked for,
  /// since every test of the program starts with the names of all.
  explicit BadFiles(const std::string& name)
      : read_(CaseFileReader::read(std::filesystem::path(TIERSIM_SOURCE_DIR) / "tests" /
                                   "bad_configs" / (name + ".txt"))) {}

  /// Names of the cases, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, one] : read_.cases) out.push_back(name);
    return out;
  }

  const std::string& expected(const std::string& name) const {
    return read_.cases.at(name).expected;
  }

  std::filesystem::path file(const std::string& name) const { return folder() / (name + ".yaml"); }

  /// The text without the folder in its paths.
  std::string relative(const std::string& text) const { return without(text, folder()); }

  /// What the user of the file is told, with paths relative to the folder.
  template <class Config>
  std::string told(const std::string& name, std::string_view kind,
                   const LoadOptions& options = {}) const {
    Diagnostics diagnostics;
    const Document document = load_document(file(name), options, diagnostics);
    static_cast<void>(read<Config>(document, kind, diagnostics));
    return relative(diagnostics.text());
  }

  /// The text with paths relative to the folder, ordered by them: where this tree and the temporary
  /// folder lie decides the order of whole paths.
  static std::string without(const std::string& text, const std::filesystem::path& folder) {
    const std::string prefix = folder.string() + '/';
    std::vector<std::string> lines;
    for (std::istringstream in(text); in.good();) {
      std::string line;
      if (!std::getline(in, line)) break;
      for (std::size_t at = 0; (at = line.find(prefix, at)) != std::string::npos;)
        line.erase(at, prefix.size());
      lines.push_back(line + '\n');
    }
    std::ranges::stable_sort(
        lines, {}, [](const std::string& line) { return line.substr(0, line.find(':')); });
    std::string out;
    for (const std::string& line : lines) out += line;
    return out;
  }

 private:
  const std::filesystem::path& folder() const {
    if (!folder_) {
      folder_.emplace();
      for (const auto& [file, text] : read_.files) write(file, text);
      for (const auto& [file, one] : read_.cases) write(file + ".yaml", one.input);
    }
    return folder_->path();
  }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_->path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  CaseFile read_;
  mutable std::optional<TemporaryFolder> folder_;
};

inline std::filesystem::path shipped_configs() {
  return std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
}

}  // namespace tiersim::testing
