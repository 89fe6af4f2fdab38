#pragma once
// Points of a store by name: "sweeps/pool.db:17" is the one at position 17 of its last sweep, and
// "sweeps/pool.db:3fa9c1" the one with a run id that begins with 3fa9c1.
#include <filesystem>
#include <optional>
#include <string>

#include "sim/config/document.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim::cli {

/// The sweep of this name; the last one if the name is empty. Throws Failure.
StoredSweep sweep_in(SweepStore& store, const std::string& name);

struct StoredPointName {
  std::filesystem::path store = {};
  std::string point = {};  ///< position, or the beginning of a run id (six digits at least)
};
/// Nothing if the text names a file, or no store before a colon.
std::optional<StoredPointName> stored_point_name(const std::string& text);

/// The point with its sweep. Throws Failure.
struct FoundPoint {
  StoredSweep sweep = {};
  StoredPoint point = {};
};
FoundPoint find_point(SweepStore& store, const StoredPointName& name);

/// The point's document, from the inputs stored at the start of its sweep.
Document document_of(SweepStore& store, const FoundPoint& found);

}  // namespace tiersim::cli
