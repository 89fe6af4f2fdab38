// The C++ interface in ten lines: a scenario with a setting on top, and one metric of its record.
//
//   step_time_example CONFIGS SCENARIO SETTING...
//
// A program of your own links to `tiersim::runner`, from the package libtiersim-dev or in a build
// that has added this project:
//   find_package(tiersim REQUIRED)     # or add_subdirectory(tiersim)
//   target_link_libraries(my_program PRIVATE tiersim::runner)
#include <cstdio>

#include "sim/runner/point_runner.hpp"
#include "sim/step/importers.hpp"

int main(int count, char** words) {
  if (count < 3) return 2;
  tiersim::PointRunner runner(
      {.config_root = words[1], .importers = tiersim::make_all_importers()});
  tiersim::Diagnostics mistakes;
  const auto [record, problem] =
      runner.run({words[2], {words + 3, words + count}}, tiersim::Evaluation::times, mistakes);
  if (record) return std::printf("%.17g\n", record->metrics.at("step_time_s").value) > 0 ? 0 : 1;
  std::fprintf(stderr, "%s%s\n", mistakes.text().c_str(), problem.c_str());
  return 3;
}
