#pragma once
// The JSON Schema of a record, for programs that read records and for editors.
#include <string>

namespace tiersim {

/// JSON Schema, draft 2020-12, of to_json()'s text; pretty-printed, ends in a newline. A metric's
/// name is data: `tiersim list metrics --json` lists the names.
std::string record_schema();

}  // namespace tiersim
