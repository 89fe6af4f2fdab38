#pragma once
// The tables of published servers: every load in the nominal cell, every declared cell, and the
// sequences that fit in every declared room.
#include "reports/papers/served_loads/served_loads.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

Table load_table(const ServedLoadResults& r);
Table cell_table(const ServedLoadResults& r);
/// The targets must have seats.
Table seat_table(const ServedLoadResults& r);

}  // namespace tiersim
