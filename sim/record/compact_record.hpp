#pragma once
// Results of a record on one line, for stores: a tenth of the time of the text for people.
#include <cstdint>
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Whether `"setup": {name, gpus, batch, context, sharers}` stands first. It is no result: it is
/// what reports need to know of the configuration where the text is kept without it.
enum class Setup : std::uint8_t { left_out, included };

/// The values of pretty_results(), no line break. Without setup it is the same JSON.
std::string compact_results(const RunRecord& record, Setup setup = Setup::left_out);
/// `{"metrics": {...}}` alone, likewise.
std::string compact_metrics(const RunRecord& record, Setup setup = Setup::left_out);

}  // namespace tiersim
