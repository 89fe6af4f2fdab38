#include "sim/cli/stored_points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/runner/load.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFewestDigits = 6;  // shorter words are positions, not run ids

bool is_position(const std::string& text) {
  constexpr std::size_t kMostDigits = 12;
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

[[noreturn]] void not_stored(const std::string& text) {
  throw Failure(ExitCode::usage, printable("tiersim: error: " + text));
}

}  // namespace

StoredSweep sweep_in(SweepStore& store, const std::string& name) {
  const std::vector<StoredSweep> all = store.sweeps();
  std::vector<std::string> names;
  for (const StoredSweep& sweep : all) names.push_back(sweep.name);
  if (all.empty()) not_stored(fmt::format("'{}' has no sweep", store.path().string()));
  if (name.empty()) {
    if (all.size() > 1)
      fmt::print(stderr, "tiersim: '{}' has {} sweeps; this is the last, '{}' (--sweep NAME: {})\n",
                 printable(store.path().string()), all.size(), printable(names.back()),
                 printable(join(names)));
    return all.back();
  }
  const auto it = std::ranges::find(names.rbegin(), names.rend(), name);
  if (it == names.rend())
    not_stored(fmt::format("'{}' has no sweep '{}' (it has: {})", store.path().string(), name,
                           join(names)));
  const StoredSweep& found = all[static_cast<std::size_t>(names.rend() - it) - 1];
  if (std::ranges::count(names, name) > 1)
    fmt::print(stderr, "tiersim: '{}' has several sweeps '{}'; this is the last, {}\n",
               printable(store.path().string()), printable(name), found.digest.substr(0, 12));
  return found;
}

std::optional<StoredPointName> stored_point_name(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || fs::exists(text)) return std::nullopt;
  StoredPointName out{text.substr(0, colon), text.substr(colon + 1)};
  if (!SweepStore::is_store(out.store)) return std::nullopt;
  return out;
}

FoundPoint find_point(SweepStore& store, const StoredPointName& name) {
  const bool by_position = is_position(name.point);
  if (!by_position && name.point.size() < kFewestDigits)
    not_stored(fmt::format("'{}' is neither the position of a point nor {} digits of a run id",
                           name.point, kFewestDigits));
  std::optional<FoundPoint> out;
  const std::vector<StoredSweep> sweeps = store.sweeps();
  for (auto sweep = sweeps.rbegin(); sweep != sweeps.rend() && !out; ++sweep) {
    store.for_each(*sweep, [&](const StoredPoint& point) {
      const bool here = by_position ? fmt::to_string(point.point.position) == name.point
                                    : point.outcome.id.starts_with(name.point);
      if (here) out = FoundPoint{*sweep, point};
      return !here;
    });
    if (by_position) break;  // positions belong to the last sweep
  }
  if (!out)
    not_stored(fmt::format("'{}' has no point '{}'{}", name.store.string(), name.point,
                           by_position ? " in its last sweep" : ""));
  return *out;
}

Document document_of(SweepStore& store, const FoundPoint& found) {
  PointLoader loader(standard_options());
  adopt_inputs(loader, store.inputs(found.sweep.sweep));
  Diagnostics diagnostics;
  Document document = loader.load(point_of(found.point.point), diagnostics);
  throw_if_any(diagnostics);
  return document;
}

}  // namespace tiersim::cli
