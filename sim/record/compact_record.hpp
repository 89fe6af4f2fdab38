#pragma once
// Results of a record on one line, for stores: ten times as fast as the text for people.
#include <cstdint>
#include <string>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// `included` puts `"setup": {name, gpus, batch, context, sharers}` first. The setup is no result:
/// it is the part of the configuration that reports need if the text is stored without it.
enum class Setup : std::uint8_t { left_out, included };

/// The values of pretty_results() without line breaks. Without the setup it is the same JSON.
std::string compact_results(const RunRecord& record, Setup setup = Setup::left_out);
/// Only `{"metrics": {...}}`, in the same form.
std::string compact_metrics(const RunRecord& record, Setup setup = Setup::left_out);

}  // namespace tiersim
