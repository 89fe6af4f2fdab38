#pragma once
// A loaded document as one text that needs no other file: bases and imports are merged in.
#include <filesystem>
#include <string>
#include <string_view>

#include "sim/config/document.hpp"

namespace tiersim {

/// JSON on one line, with the `schema` of the document's own file.
std::string snapshot_text(const Document& document);

/// The document that the text was made of. `name` stands for its file: every value has its first
/// line as origin. load_text() would make the same tree, at ten times the cost. A text that is not
/// a snapshot is reported, and the document is then empty.
Document read_snapshot(std::string_view text, const std::filesystem::path& name,
                       Diagnostics& diagnostics);

}  // namespace tiersim
