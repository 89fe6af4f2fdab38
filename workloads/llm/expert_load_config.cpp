#include "workloads/llm/expert_load_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t kRowsMost = std::int64_t{1} << 53;  // a double holds them exactly
constexpr std::size_t kLayersMost = 1000;
constexpr std::size_t kExpertsMost = 4096;

bool has_rows(const std::vector<std::int64_t>& layer) {
  return std::ranges::any_of(layer, [](std::int64_t rows) { return rows > 0; });
}
bool has_layers(const ExpertCounts& counts) {
  return !counts.empty() && !counts.front().empty() && std::ranges::any_of(counts, has_rows) &&
         std::ranges::all_of(
             counts, [&](const auto& layer) { return layer.size() == counts.front().size(); });
}

// A whole number, also where it is written as 12.0.
std::optional<std::int64_t> rows_of(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto rows = json.get<std::uint64_t>();
    if (rows <= static_cast<std::uint64_t>(kRowsMost)) return static_cast<std::int64_t>(rows);
  } else if (json.is_number_float()) {
    const auto rows = json.get<double>();
    if (rows >= 0 && rows <= static_cast<double>(kRowsMost) && rows == std::floor(rows))
      return static_cast<std::int64_t>(rows);
  }
  return std::nullopt;
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

// The counts in `json`, whose values are only referred to: a copy of deeply nested lists would
// recurse.
std::string add_counts(const Json& json, ExpertCounts& sum) {
  if (!json.is_array() || json.empty()) return "has no `logical_count`";
  if (!json[0].is_array() || json[0].empty() || !json[0][0].is_array()) return add_piece(json, sum);
  std::string wrong;
  for (std::size_t i = 0; i < json.size() && wrong.empty(); ++i) wrong = add_piece(json[i], sum);
  return wrong;
}

Expected<std::string, std::vector<ImportProblem>> counts_of(const std::filesystem::path& path,
                                                            const std::string& text,
                                                            const std::string& key) {
  const auto problem = [&](const std::string& message) {
    return Unexpected(std::vector<ImportProblem>{
        {path.string() + ": " + message,
         "JSON with `logical_count`: a list of layers, each with the rows of every expert"}});
  };
  constexpr const char* kKey = "logical_count";
  int named = 0;
  const auto count_names = [&](int depth, Json::parse_event_t event, Json& parsed) {
    named += event == Json::parse_event_t::key && depth == 1 && parsed == kKey ? 1 : 0;
    return true;
  };
  const Json json = Json::parse(text, count_names, false);
  if (json.is_discarded()) return problem("is no JSON");
  if (named > 1) return problem("has `logical_count` twice");
  const bool in_object = json.is_object() && json.contains(kKey);
  ExpertCounts sum;
  if (const std::string wrong = add_counts(in_object ? json.at(kKey) : json, sum); !wrong.empty())
    return problem(wrong);
  if (!has_layers(sum)) return problem("counts no row");
  std::string yaml = key + ":\n";
  for (const auto& layer : sum) yaml += fmt::format("  - [{}]\n", fmt::join(layer, ", "));
  return yaml;
}

void check_counts(Fields& f, const ExpertLoadConfig& c) {
  const bool counted = c.law == ExpertLaw::counted;
  constexpr auto kShape = "equally many experts in every layer, and a row in one of them";
  f.check(!counted || c.counted, "counted", "is missing", "give expert_counts, or another law");
  f.check(counted || !c.counted, "counted", "stands beside another law",
          "law: counted, or leave expert_counts out");
  f.check(counted || !c.placed_by, "placed_by", "stands beside a law, by which experts are placed",
          "leave it out, or give expert_counts");
  f.check(!c.counted || has_layers(*c.counted), "counted",
          "has no rows, or layers with different experts", kShape);
  f.check(!c.placed_by || has_layers(*c.placed_by), "placed_by",
          "has no rows, or layers with different experts", kShape);
  const bool both = c.counted && c.placed_by && has_layers(*c.counted) && has_layers(*c.placed_by);
  f.check(!both || (c.placed_by->size() == c.counted->size() &&
                    c.placed_by->front().size() == c.counted->front().size()),
          "placed_by", "has other layers or experts than counted", "counts of the same model");
  const auto knows_all = [&] {
    for (std::size_t i = 0; i < c.counted->size(); ++i)
      if (has_rows((*c.counted)[i]) && !has_rows((*c.placed_by)[i])) return false;
    return true;
  };
  f.check(!both || c.placed_by->size() != c.counted->size() || knows_all(), "placed_by",
          "has no rows in a layer that has some in counted", "counts of the same layers");
  f.check(!c.placed_by || c.drift == 0, "drift",
          "stands beside placed_by, which says what has changed", "leave one of them out");
}

}  // namespace

void describe(Fields& f, ExpertLoadConfig& c) {
  f.doc("How unevenly tokens choose experts.");
  f.required("law", c.law, kExpertLawNames,
             "Law of the popularity of a layer's experts. `counted` takes the rows of the key "
             "`counted`; tokens of a draft model still choose by chance. `even` gives every GPU an "
             "equal share of the rows.");
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
  const bool even = c.law == ExpertLaw::even;
  if (!f.only_sourced()) {  // thousands of numbers without a class
    f.optional("counted", c.counted, "Rows of every expert, a list for each layer.",
               in_range(std::int64_t{0}, kRowsMost));
    f.optional("placed_by", c.placed_by,
               "The same when experts were placed; `counted` where absent.",
               in_range(std::int64_t{0}, kRowsMost));
    check_counts(f, c);
  }
  f.check(counted || even || c.spread, "spread", "is missing", "spread: 1.06, or expert_counts");
  f.check(!even || !c.spread, "spread", "stands beside an even load", "spread: ~");
  f.check(!even || c.drift == 0, "drift", "stands beside an even load", "drift: 0");
  f.check(!counted || !c.spread, "spread", "stands beside counts", "leave it out");
}

const ExpertLoadConfig& equally_popular() {
  static const ExpertLoadConfig load{.law = ExpertLaw::zipf, .spread = Sourced<double>{}};
  return load;
}

Expected<std::string, std::vector<ImportProblem>> import_expert_counts(
    const std::filesystem::path& path, const std::string& text) {
  return counts_of(path, text, "law: counted\nspread: ~\ncounted");
}

Expected<std::string, std::vector<ImportProblem>> import_placement_counts(
    const std::filesystem::path& path, const std::string& text) {
  return counts_of(path, text, "drift: 0\nplaced_by");
}

}  // namespace tiersim
