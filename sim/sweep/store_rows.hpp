#pragma once
// Rows of a store as they are checked when they are written and read. Internal to sim/sweep.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "sim/sweep/store.hpp"

namespace tiersim::store_rows {

/// Throws DamagedStore if the row is not what was written, as its check says.
void expect_row(bool whole, const std::filesystem::path& store, const std::string& row);
DamagedStore two_results(const std::filesystem::path& store, const std::string& id);

DamagedStore damaged(const std::filesystem::path& store, const std::string& row,
                     std::string_view why);

/// Reads parts of a row that are JSON or a name; whatever is wrong is damage of this row.
template <class Read>
auto read_row(const std::filesystem::path& store, const std::string& row, Read&& read) {
  try {
    return read();
  } catch (const DamagedStore&) {
    throw;
  } catch (const std::exception& error) {
    throw damaged(store, row, error.what());
  }
}

/// Throws std::runtime_error for a name of no status.
PointStatus status_of(const std::string& name);
std::string_view name_of(PointStatus status);

/// The check of a point's row: of everything that it says, however that is stored.
std::int64_t check_of(const SpacePoint& point, const std::string& id, const std::string& answer);
/// The same of a result.
std::int64_t check_of(std::string_view extent, std::string_view version,
                      const PointOutcome& outcome);

}  // namespace tiersim::store_rows
