#include "sim/cli/baselines.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/text.hpp"

namespace tiersim::cli {

void add_baseline(CLI::App& kind, std::string& baseline) {
  kind.add_option("--baseline", baseline,
                  "Show everything beside this: a label of the points (of their own axis, the "
                  "others being the same), COLUMN=LABEL, or a file of one point")
      ->type_name("LABEL|FILE");
}

std::optional<Baseline> find_baseline(const std::string& text, const PointTable& table,
                                      const SourceOptions& options, Readings readings) {
  if (text.empty()) return std::nullopt;
  auto labelled = baseline_of_points(table, text);
  if (labelled) return *std::move(labelled);
  std::error_code none;
  if (!std::filesystem::is_regular_file(text, none))
    throw Failure(
        ExitCode::usage,
        fmt::format("tiersim: error: --baseline: {}, and there is no such file", labelled.error()));
  SourceOptions file;
  file.sources = {text};
  file.set = options.set;
  const PointTable other = load_points(file, readings);
  if (other.points.size() != 1 || !other.points.front().record)
    throw Failure(ExitCode::usage,
                  fmt::format("tiersim: error: --baseline: {} has {} points, and one with a result "
                              "is needed",
                              printable(text), other.points.size()));
  const auto& record = other.points.front().record;
  const std::string name = record->name.empty() ? text : record->name;
  return Baseline{.name = printable(name), .records = {table.points.size(), record}};
}

}  // namespace tiersim::cli
