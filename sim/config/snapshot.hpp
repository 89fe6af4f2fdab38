#pragma once
// A loaded document as one text that needs no other file: bases and imports merged in. load_text()
// makes an equal document of it, whose values have the text as origin.
#include <string>

#include "sim/config/document.hpp"

namespace tiersim {

/// JSON on one line, with the `schema` of the document's own file.
std::string snapshot_text(const Document& document);

}  // namespace tiersim
