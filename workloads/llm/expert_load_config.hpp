#pragma once
// How unevenly tokens choose experts: a law of their popularity, or the rows that a server counted.
// Under `even` nothing is drawn: every GPU gets an equal share of the rows of the batch.
//
// Counts come from a JSON file, as SGLang's --init-expert-location takes it: `logical_count` is a
// list of layers, each with the rows of every expert since the start, or the list of several such
// lists (pieces of time), which are added up. A layer without rows has no experts, and is passed
// over. The file may also be that list alone.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/importer.hpp"

namespace tiersim {

enum class ExpertLaw : std::uint8_t { zipf, log_normal, counted, even };
inline constexpr std::array<std::string_view, 4> kExpertLawNames{"zipf", "log_normal", "counted",
                                                                 "even"};

/// Rows of every expert, by layer. All layers have equally many experts.
using ExpertCounts = std::vector<std::vector<std::int64_t>>;

struct ExpertLoadConfig {
  ExpertLaw law = ExpertLaw::log_normal;
  std::optional<Sourced<double>> spread = {};  ///< of a law, which has it
  double drift = 0;  ///< standard deviation of the logarithm of a share, since it was last measured
  std::optional<ExpertCounts> counted = {};    ///< law counted: the rows
  std::optional<ExpertCounts> placed_by = {};  ///< law counted: those that placement knows, if not
                                               ///< the same ones

  /// Experts of a layer where they are counted, else 0.
  std::int64_t experts() const {
    return counted && !counted->empty() ? static_cast<std::int64_t>(counted->front().size()) : 0;
  }
};
void describe(Fields& f, ExpertLoadConfig& c);

/// Returns the law of equally popular experts, among which tokens choose by chance: zipf with a
/// spread of 0.
const ExpertLoadConfig& equally_popular();

/// YAML `law: counted` and `counted: [[..], ..]`; no spread.
Expected<std::string, std::vector<ImportProblem>> import_expert_counts(
    const std::filesystem::path& path, const std::string& text);
/// YAML `placed_by: [[..], ..]`; no drift.
Expected<std::string, std::vector<ImportProblem>> import_placement_counts(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
