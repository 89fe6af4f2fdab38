#include "reports/serving/cache_tables.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reports/serving/trace_tables.hpp"

namespace tiersim {
Table cache_table(const FoundInCaches& found, const CachesOfTrace& caches,
                  const CacheTablesOptions& options) {
  Table out{
      .id = "policies",
      .title = "Share of the lookups that a cache finds, by its capacity and by what leaves first",
      .columns = {{"blocks"}, {"tokens"}},
      .notes = {fmt::format("A block has {} tokens. {} prompts look up {} blocks; each finds its "
                            "blocks up to the first that is not there.",
                            options.block, found.requests, found.lookups)}};
  if (options.token_bytes) out.columns.push_back({"bytes", Align::right, "bytes", "", "", "B"});
  for (const std::string& policy : caches.policies) out.columns.push_back({policy, Align::right});
  const auto bound = std::ranges::find(caches.policies, "belady");
  const bool compares = bound != caches.policies.end() && caches.policies.size() > 1;
  if (compares) {
    out.columns.push_back({"best", Align::left, "best"});
    out.columns.push_back({"of belady", Align::right, "of_belady"});
    out.notes.emplace_back(
        "belady knows the future, so no cache finds more; the last columns compare the best of the "
        "others with it.");
  }
  if (std::ranges::find(caches.policies, "gdsf") != caches.policies.end())
    out.notes.emplace_back(
        "gdsf takes all blocks as equally long to compute here; a server knows better.");
  const auto all = static_cast<double>(found.lookups);
  for (std::size_t c = 0; c < caches.capacities.size(); ++c) {
    const std::int64_t tokens = caches.capacities[c] * options.block;
    Row row{caches.capacities[c], tokens};
    if (options.token_bytes)
      row.push_back(Cell::quantity(
          static_cast<double>(tokens) * static_cast<double>(options.token_bytes->in_base()), "B"));
    std::size_t best = caches.policies.size();
    for (std::size_t p = 0; p < caches.policies.size(); ++p) {
      row.push_back(percent_cell(static_cast<double>(found.found[c][p]) / all));
      if (caches.policies[p] == "belady") continue;
      if (best == caches.policies.size() || found.found[c][p] > found.found[c][best]) best = p;
    }
    if (compares) {
      const std::int64_t most =
          found.found[c][static_cast<std::size_t>(bound - caches.policies.begin())];
      row.emplace_back(caches.policies[best]);
      row.push_back(most == 0 ? Cell()
                              : percent_cell(static_cast<double>(found.found[c][best]) /
                                             static_cast<double>(most)));
    }
    out.add(std::move(row));
  }
  return out;
}

}  // namespace tiersim
