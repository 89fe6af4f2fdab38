#include "sim/cli/baselines.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/stored_points.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim::cli {

namespace {

bool is_configuration(const std::string& source) {
  return !stored_point_name(source) && !SweepStore::is_store(source) &&
         !origin_of_record(read_file(source));
}

}  // namespace

void add_baseline(Verb kind, std::string& baseline) {
  kind.option("--baseline", baseline,
              "Compare all points with a baseline: a label of an axis (with the other axes equal), "
              "COLUMN=LABEL, a file of one point, or FILE:POSITION of a store")
      .type("LABEL|FILE");
}

std::optional<Baseline> find_baseline(const std::string& text, const PointTable& table,
                                      const SourceOptions& options, Evaluation evaluation) {
  if (text.empty()) return std::nullopt;
  auto labelled = baseline_of_points(table, text);
  if (labelled) return *std::move(labelled);
  std::error_code none;
  if (!std::filesystem::is_regular_file(text, none) && !stored_point_name(text))
    throw Failure(
        ExitCode::usage,
        fmt::format("tiersim: error: --baseline: {}, and there is no such file", labelled.error()));
  SourceOptions file;
  file.sources = {text};
  if (is_configuration(text)) file.set = options.set;  // others keep their settings
  const PointTable other = load_points(file, evaluation);
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
