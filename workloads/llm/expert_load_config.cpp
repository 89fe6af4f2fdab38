#include "workloads/llm/expert_load_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t kRowsMost = std::int64_t{1} << 53;  // a double holds them exactly
constexpr std::size_t kLayersMost = 1000;
constexpr std::size_t kExpertsMost = 100'000;

bool is_even(const ExpertCounts& counts) {
  return std::ranges::all_of(
      counts, [&](const auto& layer) { return layer.size() == counts.front().size(); });
}
bool has_rows(const std::vector<std::int64_t>& layer) {
  return std::ranges::any_of(layer, [](std::int64_t rows) { return rows > 0; });
}

// A whole number, also where it is written as 12.0.
std::optional<std::int64_t> rows_of(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  const auto rows = json.get<double>();
  if (!(rows >= 0) || rows > static_cast<double>(kRowsMost) || rows != std::floor(rows))
    return std::nullopt;
  return static_cast<std::int64_t>(rows);
}

// One list of layers added to `sum`, or what is wrong with it.
std::string add_piece(const Json& piece, ExpertCounts& sum) {
  if (!piece.is_array() || piece.empty()) return "is no list of layers";
  if (piece.size() > kLayersMost) return fmt::format("has more than {} layers", kLayersMost);
  if (sum.empty()) sum.resize(piece.size());
  if (sum.size() != piece.size()) return "has pieces with different numbers of layers";
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const Json& layer = piece[i];
    if (!layer.is_array() || layer.empty() || layer.size() > kExpertsMost)
      return fmt::format("layer {} is no list of 1 to {} counts", i, kExpertsMost);
    if (sum[i].empty()) sum[i].resize(layer.size());
    if (layer.size() != sum.front().size() || layer.size() != sum[i].size())
      return fmt::format("layer {} has {} experts, and another one {}", i, layer.size(),
                         sum.front().size());
    for (std::size_t e = 0; e < layer.size(); ++e) {
      const std::optional<std::int64_t> rows = rows_of(layer[e]);
      if (!rows || *rows > kRowsMost - sum[i][e])
        return fmt::format("layer {}, expert {}: no whole number of rows from 0 to 2^53", i, e);
      sum[i][e] += *rows;
    }
  }
  return "";
}

Expected<std::string, std::vector<ImportProblem>> counts_of(const std::filesystem::path& path,
                                                            const std::string& text,
                                                            const std::string& key) {
  const auto problem = [&](const std::string& message) {
    return Unexpected(std::vector<ImportProblem>{
        {path.string() + ": " + message,
         "JSON with `logical_count`: a list of layers, each with the rows of every expert"}});
  };
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return problem("is no JSON");
  if (json.is_object() && json.contains("logical_count")) json = Json(json["logical_count"]);
  if (!json.is_array() || json.empty()) return problem("has no `logical_count`");
  const bool pieces = json[0].is_array() && !json[0].empty() && json[0][0].is_array();
  ExpertCounts sum;
  if (!pieces) json = Json::array({json});
  for (const Json& piece : json)
    if (const std::string wrong = add_piece(piece, sum); !wrong.empty()) return problem(wrong);
  std::string yaml;
  for (const auto& layer : sum)
    if (has_rows(layer)) yaml += fmt::format("  - [{}]\n", fmt::join(layer, ", "));
  if (yaml.empty()) return problem("counts no row");
  return key + ":\n" + yaml;
}

}  // namespace

void describe(Fields& f, ExpertLoadConfig& c) {
  f.doc("How unevenly tokens choose experts.");
  f.required("law", c.law, kExpertLawNames,
             "Of the popularity of a layer's experts; counted: as `counted` has it.");
  f.optional("spread", c.spread,
             "zipf: the exponent; log_normal: the standard deviation of the logarithm.",
             in_range(0.0, 4.0));
  f.optional("drift", c.drift,
             "Standard deviation of the logarithm of what popularity has changed by since copies "
             "were placed.",
             in_range(0.0, 4.0));
  f.importable("expert_counts",
               "JSON file with the rows of every expert by layer: `law: counted`, `counted`.");
  f.importable("placement_counts", "Such a file of the time at which experts were placed.");
  const bool counted = c.law == ExpertLaw::counted;
  if (!f.only_sourced()) {  // thousands of numbers without a class
    f.optional("counted", c.counted, "Rows of every expert, a list for each layer.",
               in_range(std::int64_t{0}, kRowsMost));
    f.optional("placed_by", c.placed_by,
               "The same when experts were placed; `counted` where absent.",
               in_range(std::int64_t{0}, kRowsMost));
    f.check(!counted || !c.counted.empty(), "counted", "is missing",
            "give expert_counts, or another law");
    f.check(counted || (c.counted.empty() && c.placed_by.empty()), "counted",
            "stands beside another law", "law: counted");
    const auto whole = [](const ExpertCounts& counts) {
      return counts.empty() || (is_even(counts) && std::ranges::all_of(counts, has_rows));
    };
    f.check(whole(c.counted), "counted", "has a layer without rows, or with other experts",
            "equally many experts in every layer, and a row in each");
    f.check(whole(c.placed_by), "placed_by", "has a layer without rows, or with other experts",
            "equally many experts in every layer, and a row in each");
    const auto same_shape = [&] {
      return c.placed_by.size() == c.counted.size() &&
             c.placed_by.front().size() == c.counted.front().size();
    };
    const bool both = !c.placed_by.empty() && whole(c.counted) && whole(c.placed_by);
    f.check(!both || c.counted.empty() || same_shape(), "placed_by",
            "has other layers or experts than counted", "counts of the same model");
  }
  f.check(counted || c.spread, "spread", "is missing", "spread: 1.06, or expert_counts");
  f.check(!counted || !c.spread, "spread", "stands beside counts", "leave it out");
}

Expected<std::string, std::vector<ImportProblem>> import_expert_counts(
    const std::filesystem::path& path, const std::string& text) {
  return counts_of(path, text, "law: counted\nspread: ~\ncounted");
}

Expected<std::string, std::vector<ImportProblem>> import_placement_counts(
    const std::filesystem::path& path, const std::string& text) {
  return counts_of(path, text, "placed_by");
}

}  // namespace tiersim
