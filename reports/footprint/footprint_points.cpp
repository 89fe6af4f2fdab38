#include "reports/footprint/footprint_points.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/footprint/point_object.hpp"
#include "reports/footprint/record_bytes.hpp"
#include "reports/footprint/shares_text.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// A tier of a point with its divisors and its baseline.
struct Held {
  std::size_t point = 0;
  TierBytes tier = {};
  RecordCounts counts = {};
  std::optional<TierBytes> base = {};  // without bytes where the baseline has none in the tier

  double of_all(std::int64_t bytes) const {
    return static_cast<double>(bytes) * static_cast<double>(counts.gpus_with(tier.tier));
  }
  // Blocks of a server belong to no fixed number of requests.
  std::optional<double> per_request(std::int64_t bytes) const {
    if (!counts.cached_tokens) return std::nullopt;
    return ratio_of(of_all(bytes), static_cast<double>(counts.requests));
  }
  std::optional<double> per_token(std::int64_t bytes) const {
    return ratio_of(of_all(bytes), counts.cached_tokens.value_or(0));
  }
  std::optional<double> relative() const {
    if (!base) return std::nullopt;
    return ratio_of(static_cast<double>(tier.sum), static_cast<double>(base->sum));
  }
};

std::vector<Held> held_by(const PointTable& table, const std::optional<Baseline>& baseline) {
  std::vector<Held> out;
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    const auto& record = table.points[p].record;
    if (!record) continue;
    std::vector<TierBytes> base;
    const bool compared = baseline && baseline->records[p];
    if (compared) base = tier_bytes(*baseline->records[p]);
    for (TierBytes& tier : tier_bytes(*record)) {
      Held held{.point = p, .tier = std::move(tier), .counts = counts_of(*record)};
      const auto like = std::ranges::find(base, held.tier.tier, &TierBytes::tier);
      if (compared) held.base = like == base.end() ? TierBytes{} : *like;
      out.push_back(std::move(held));
    }
  }
  return out;
}

void add_to(TierBytes& sum, const TierBytes& tier) {
  for (const auto& [name, bytes] : tier.by_class) sum.by_class[name] += bytes;
  sum.sum += tier.sum;
  sum.kv_cache += tier.kv_cache;
}

// All rows, with the sum of the tiers after each point that has several.
std::vector<Held> with_sums(const std::vector<Held>& all, const std::optional<Baseline>& baseline) {
  std::vector<Held> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.push_back(all[i]);
    const std::size_t p = all[i].point;
    if (i + 1 < all.size() && all[i + 1].point == p) continue;
    if (i == 0 || all[i - 1].point != p) continue;
    if (all[i].counts.ffn_gpus > 0) continue;  // no GPU has the tiers of both kinds
    Held sum{.point = p, .tier = {.tier = "all"}, .counts = all[i].counts};
    for (std::size_t j = i + 1; j-- > 0 && all[j].point == p;) add_to(sum.tier, all[j].tier);
    if (baseline && baseline->records[p]) {
      sum.base = TierBytes{};
      for (const TierBytes& tier : tier_bytes(*baseline->records[p])) add_to(*sum.base, tier);
    }
    out.push_back(std::move(sum));
  }
  return out;
}

std::vector<std::string> classes_of(const std::vector<Held>& all) {
  std::vector<std::string> names;
  for (const Held& held : all)
    for (const auto& [name, bytes] : held.tier.by_class) names.push_back(name);
  return in_class_order(std::move(names));
}

std::int64_t bytes_of(const BytesByClass& by_class, const std::string& name) {
  const auto it = by_class.find(name);
  return it == by_class.end() ? 0 : it->second;
}

// "6.4 GiB", or "6.4 GiB (x 0.5)" with a baseline.
std::string cell(const Held& held, std::int64_t bytes, std::int64_t base) {
  std::string text = bytes_text(bytes);
  if (!held.base || bytes == 0) return text;
  return fmt::format(
      "{} ({})", text,
      base == 0 ? "new"
                : times_text(ratio_of(static_cast<double>(bytes), static_cast<double>(base))));
}

Table by_class(const PointTable& points, const std::vector<Held>& all,
               const std::optional<Baseline>& baseline) {
  const PointLabels labels(points);
  Table table{.title = "Held by one GPU, by tier and tensor class",
              .columns = labels.columns(),
              .readers = Readers::people};
  table.columns.push_back({"tier", Align::left});
  const std::vector<std::string> classes = classes_of(all);
  for (const std::string& name : classes) table.columns.push_back({printable(name)});
  table.columns.insert(table.columns.end(), {{"sum"}, {"full"}});
  for (const Held& held : all) {
    std::vector<std::string> row = labels.cells(held.point);
    row.push_back(printable(held.tier.tier));
    for (const std::string& name : classes)
      row.push_back(cell(held, bytes_of(held.tier.by_class, name),
                         held.base ? bytes_of(held.base->by_class, name) : 0));
    row.push_back(cell(held, held.tier.sum, held.base ? held.base->sum : 0));
    const auto full = held.tier.full();
    row.push_back(full ? share_text(*full) : "-");
    table.add(std::move(row));
  }
  if (baseline) table.notes.push_back("(x 0.5): relative to " + baseline->name);
  for (std::string& note : notes_on_missing(
           points, [](const RunRecord& record) { return !tier_bytes(record).empty(); }, "tiers"))
    table.notes.push_back(std::move(note));
  return table;
}

Table shares(const PointTable& points, const std::vector<Held>& all) {
  const PointLabels labels(points);
  Table table{.title = "Held for each request and cached token, on all GPUs that have a part of it",
              .columns = labels.columns(),
              .readers = Readers::people};
  table.columns.insert(
      table.columns.end(),
      {{"tier", Align::left}, {"per request"}, {"KV per request"}, {"KV per token"}});
  bool of_server = false;
  for (const Held& held : all) {
    of_server = of_server || !held.counts.cached_tokens;
    Row row = labels.row(held.point);
    row.insert(row.end(),
               {printable(held.tier.tier), mean_bytes_cell(held.per_request(held.tier.sum)),
                mean_bytes_cell(held.per_request(held.tier.kv_cache)),
                mean_bytes_cell(held.per_token(held.tier.kv_cache))});
    table.add(std::move(row));
  }
  table.notes.emplace_back(
      "per request: bytes of all GPUs over the sequences of the batch, so with a sequence's share "
      "of the weights; per token: over sequences x context");
  if (of_server)
    table.notes.emplace_back(
        "of a server: its blocks belong to no fixed number of requests or tokens");
  return table;
}

// Every byte, with a row for each class.
Table long_table(const PointTable& points, const std::vector<Held>& all,
                 const std::optional<Baseline>& baseline) {
  const PointLabels labels(points);
  Table table{.title = "Held by one GPU, by tier and tensor class",
              .columns = labels.columns(),
              .readers = Readers::csv};
  for (const char* title : {"tier", "class"}) table.columns.push_back({title, Align::left});
  for (const char* title : {"bytes [B]", "capacity [B]", "per request [B]", "per cached token [B]"})
    table.columns.push_back({title});
  if (baseline) table.columns.push_back({"of baseline"});
  for (const Held& held : all)
    for (const auto& [name, bytes] : held.tier.by_class) {
      const auto mean = [](std::optional<double> of) { return of ? Cell(*of) : Cell("-"); };
      Row row = labels.row(held.point);
      row.insert(row.end(), {held.tier.tier, name, bytes,
                             held.tier.capacity ? Cell(*held.tier.capacity) : Cell(),
                             mean(held.per_request(bytes)), mean(held.per_token(bytes))});
      if (baseline) {
        const auto ratio = held.base
                               ? ratio_of(static_cast<double>(bytes),
                                          static_cast<double>(bytes_of(held.base->by_class, name)))
                               : std::nullopt;
        row.push_back(ratio ? Cell(*ratio) : Cell());
      }
      table.add(std::move(row));
    }
  return table;
}

Json to_object(const Held& held, bool compared) {
  Json classes = Json::object();
  for (const auto& [name, bytes] : held.tier.by_class) classes[name] = bytes;
  Json out{{"by_class_bytes", std::move(classes)},
           {"sum_bytes", held.tier.sum},
           {"kv_cache_bytes", held.tier.kv_cache},
           {"capacity_bytes", held.tier.capacity ? Json(*held.tier.capacity) : Json()},
           {"shared_by_gpus", held.tier.sharers},
           {"bytes_per_request", number_or_null<Json>(held.per_request(held.tier.sum))},
           {"kv_bytes_per_request", number_or_null<Json>(held.per_request(held.tier.kv_cache))},
           {"kv_bytes_per_token", number_or_null<Json>(held.per_token(held.tier.kv_cache))}};
  if (compared) out["of_baseline"] = number_or_null<Json>(held.relative());
  return out;
}

}  // namespace

std::vector<Table> footprint_tables(const PointTable& table,
                                    const std::optional<Baseline>& baseline) {
  const std::vector<Held> all = held_by(table, baseline);
  const std::vector<Held> summed = with_sums(all, baseline);
  return {by_class(table, summed, baseline), shares(table, summed),
          long_table(table, all, baseline)};
}

std::string to_json(const FootprintReport& report, const PointTable& table,
                    const std::optional<Baseline>& baseline) {
  const std::vector<Held> all = held_by(table, baseline);
  Json points = Json::array();
  auto held = all.begin();
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    Json& entry = points.emplace_back(point_object<Json>(table, p));
    entry["tiers"] = Json::object();
    for (; held != all.end() && held->point == p; ++held)
      entry["tiers"][held->tier.tier] = to_object(*held, baseline.has_value());
  }
  Json out = Json::parse(to_json(report));
  if (baseline) out["baseline"] = baseline->name;
  out["points"] = std::move(points);
  return out.dump(2) + '\n';
}

}  // namespace tiersim
