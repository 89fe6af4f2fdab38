#pragma once
// A separate folder for a test, removed with its content.
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace tiersim::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::string random(6, 'X');  // mkdtemp replaces these
    std::string name = (std::filesystem::temp_directory_path() / ("tiersim_" + random)).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tiersim::testing
