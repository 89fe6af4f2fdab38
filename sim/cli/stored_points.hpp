#pragma once
// Points of a store by name: "sweeps/pool.db:17" is the one at position 17 of its last sweep,
// "sweeps/pool.db:3fa9c1" the one whose run id begins so.
#include <filesystem>
#include <optional>
#include <string>

#include "sim/config/document.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim::cli {

/// The sweep of this name; the last one where it is empty. Throws Failure.
StoredSweep sweep_in(SweepStore& store, const std::string& name);

struct StoredPointName {
  std::filesystem::path store = {};
  std::string point = {};  ///< position, or the beginning of a run id (six digits at least)
};
/// Nothing where the text names a file, or no store before a colon.
std::optional<StoredPointName> stored_point_name(const std::string& text);

/// The point, with the sweep that it is of. Throws Failure.
struct FoundPoint {
  StoredSweep sweep = {};
  StoredPoint point = {};
};
FoundPoint find_point(SweepStore& store, const StoredPointName& name);

/// Its document, of the inputs that its sweep was begun with.
Document document_of(SweepStore& store, const FoundPoint& found);

}  // namespace tiersim::cli
