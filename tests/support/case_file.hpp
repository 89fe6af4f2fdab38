#pragma once
// Many small test cases in one text file, each an input and the text that is expected of it:
//
//   # What the cases have in common.
//
//   ### name
//   the input
//   --- expected
//   the text
//
//   ### file folder/other.yaml
//   a file beside the inputs, which they may name
//
// An input and a text end in one newline, whatever blank lines follow.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tiersim::testing {

struct CaseFile {
  struct Case {
    std::string input;
    std::string expected;
  };
  std::map<std::string, Case> cases;
  std::map<std::string, std::string> files;
};

/// Throws where the file has another form: a case without an expected text, a name that is taken.
class CaseFileReader {
 public:
  static CaseFile read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path.string() + ": cannot be read");
    CaseFileReader reader(path.string());
    for (std::string line; std::getline(in, line);) reader.take(line);
    reader.finish();
    return std::move(reader.read_);
  }

 private:
  static constexpr std::string_view kHeading = "### ";
  static constexpr std::string_view kFile = "file ";
  static constexpr std::string_view kExpected = "--- expected";

  explicit CaseFileReader(std::string path) : path_(std::move(path)) {}

  void take(const std::string& line) {
    if (line.starts_with(kHeading)) {
      finish();
      name_ = line.substr(kHeading.size());
      expected_.reset();
      input_.clear();
    } else if (line == kExpected && !name_.empty() && !expected_) {
      expected_.emplace();
    } else if (!name_.empty()) {
      (expected_ ? *expected_ : input_) += line + '\n';
    }
  }

  void finish() {
    if (name_.empty()) return;
    const bool is_file = name_.starts_with(kFile);
    if (is_file == expected_.has_value())
      throw std::runtime_error(path_ + ": " + name_ + ": " +
                               (is_file ? "a file expects nothing" : "no expected text"));
    std::string& last = expected_ ? *expected_ : input_;
    while (last.ends_with("\n\n")) last.pop_back();
    const bool is_new = is_file
                            ? read_.files.emplace(name_.substr(kFile.size()), input_).second
                            : read_.cases.emplace(name_, CaseFile::Case{input_, *expected_}).second;
    if (!is_new) throw std::runtime_error(path_ + ": " + name_ + ": stands twice");
  }

  std::string path_;
  std::string name_;  // of the case or file that is read
  std::string input_;
  std::optional<std::string> expected_;
  CaseFile read_;
};

}  // namespace tiersim::testing
