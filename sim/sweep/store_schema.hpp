#pragma once
// The tables of a store, and ordered copies of rows between stores.
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/sqlite.hpp"

namespace tiersim {

/// Makes the tables if they are missing.
void create_tables(Sqlite& db);
/// Throws StoreError if the file is not a store, or has another layout.
void expect_tables(Sqlite& db);

/// Makes an index of results by id and kind, if there is none; `schema` is SQLite's name
/// of the file: "main", or the name of the attached one.
void index_results(Sqlite& db, const std::string& schema);
void drop_index(Sqlite& db);

/// The check that stands in a row beside its fields, of their values and lengths (CRC-32).
std::int64_t row_check(std::initializer_list<std::optional<std::string_view>> fields);

/// ["a.b=1", "c=2"].
std::string settings_json(const std::vector<std::string>& set);

}  // namespace tiersim
