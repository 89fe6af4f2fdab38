#pragma once
// The tables of a store, and moving rows between stores in an order of their own.
#include <string>
#include <vector>

#include "sim/sweep/sqlite.hpp"

namespace tiersim {

/// Makes them where they are not.
void create_tables(Sqlite& db);
/// Throws StoreError where the file is no store, or one of another layout.
void expect_tables(Sqlite& db);

/// An index of results by id, extent and version, where there is none; `schema` as SQLite names the
/// file: "main", or what it was attached as.
void index_results(Sqlite& db, const std::string& schema);
void drop_index(Sqlite& db);

/// ["a.b=1", "c=2"].
std::string settings_json(const std::vector<std::string>& set);

}  // namespace tiersim
