#pragma once
// A loaded document as one text that needs no other file: bases and imports are merged in.
// load_text() makes an equal document of it, with the text as the origin of all values.
#include <string>

#include "sim/config/document.hpp"

namespace tiersim {

/// JSON on one line, with the `schema` of the document's own file.
std::string snapshot_text(const Document& document);

}  // namespace tiersim
