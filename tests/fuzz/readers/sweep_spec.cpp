#include <unistd.h>

#include <sys/mman.h>

#include <memory>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/step/importers.hpp"
#include "sim/sweep/setting_check.hpp"
#include "sim/sweep/sweep_plan.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {
namespace {

// A file in memory, since a SPEC is read from a file.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("spec", 0)) {
    promise(descriptor_ >= 0, "no file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::filesystem::path hold(std::string_view text) const {
    promise(ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, text.data(), text.size(), 0) ==
                                                  static_cast<ssize_t>(text.size()),
            "no room in memory");
    return fmt::format("/proc/self/fd/{}", descriptor_);
  }

 private:
  int descriptor_;
};

// False for a large space, which is read in seconds: its points are walked.
bool is_quick(const std::filesystem::path& spec, const LoadOptions& options) {
  constexpr double kMostPoints = 50;
  Diagnostics diagnostics;
  const Document document = load_document(spec, options, diagnostics);
  const auto config = read<SweepConfig>(document, "sweep", diagnostics);
  if (!diagnostics.ok()) return true;
  ScenarioFiles files(document, options);
  const auto space = load_space(config, document, files, diagnostics);
  if (!space) return true;
  double points = 0;
  for (std::size_t grid = 0; grid < space->grids(); ++grid) {
    double of_grid = 1;
    for (const std::int64_t size : space->sizes(grid)) of_grid *= static_cast<double>(size);
    points += of_grid;
  }
  return points <= kMostPoints;
}

}  // namespace

void read_sweep_spec(std::string_view text) {
  static const MemoryFile file;
  static const LoadOptions options{.overrides = {},
                                   .config_root = shipped_configs(),
                                   .importers = make_all_importers(),
                                   .bases = std::make_shared<BaseFiles>()};
  const std::filesystem::path spec = file.hold(text);
  if (!is_quick(spec, options)) return;
  Diagnostics diagnostics;
  const auto plan = SweepPlan::make(spec, options, diagnostics);
  promise((plan != nullptr) == diagnostics.ok(), "a plan with mistakes, or none without");
  expect_places(diagnostics);
}

}  // namespace tiersim::fuzz
