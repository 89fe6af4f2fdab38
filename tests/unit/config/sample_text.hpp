#pragma once
// Reads the sample configuration from text.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/describe.hpp"
#include "tests/unit/config/sample_config.hpp"

namespace tiersim::sample {

/// A complete experiment without mistakes; its only defaults are note, scale, latency and also.
inline constexpr std::string_view kText = R"(schema: tiersim.experiment/v1
name: demo
model: {name: tiny, layers: 2, heads: 8, kv_heads: 2, tied: true}
devices:
  hbm:
    model: memory
    capacity: {value: 141 GB, class: specification, source: "data sheet"}
    peak: 4800 GB/s
  pcie: {model: link, raw: 64 GB/s, lanes: 8}
step: {batch: 4, context: 8192, kv_type: fp8}
path: [pcie, hbm]
windows:
  - {from: 1 ms, to: 2 ms}
warm_up: {from: 0 ps, to: 500 us}
)";

struct Read {
  Document document;
  Experiment config;
  std::string mistakes;  ///< one a line
};

inline Read read_text(std::string_view text, const std::vector<std::string>& overrides = {}) {
  Diagnostics diagnostics;
  Document document = load_text(std::string(text), "a.yaml", {.overrides = overrides}, diagnostics);
  auto config = read<Experiment>(document, "experiment", diagnostics);
  return {std::move(document), std::move(config), diagnostics.text()};
}

inline Read read_file(const std::filesystem::path& path,
                      const std::filesystem::path& config_root = {},
                      const std::shared_ptr<BaseFiles>& bases = {}) {
  Diagnostics diagnostics;
  Document document =
      load_document(path, {.config_root = config_root, .bases = bases}, diagnostics);
  auto config = read<Experiment>(document, "experiment", diagnostics);
  return {std::move(document), std::move(config), diagnostics.text()};
}

/// The text with `from` replaced by `to`.
inline std::string with(std::string_view from, std::string_view to) {
  std::string text(kText);
  return text.replace(text.find(from), from.size(), to);
}

/// A folder for the files of one test, removed afterwards.
class Folder {
 public:
  explicit Folder(const std::string& name) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / ("tiersim_" + name + "_XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const std::filesystem::path& path() const { return path_; }
  /// Diagnostics without the name of the folder.
  std::string without_folder(std::string text) const {
    const std::string prefix = path_.string() + '/';
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
      text.erase(at, prefix.size());
    return text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tiersim::sample
