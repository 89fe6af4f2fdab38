#pragma once
// `--set a.b.c=value`: a path of keys (a list element by its position, from 0) and a YAML value.
// The overrides are laid over the top-level file before its bases are loaded, so `model.base=...`
// exchanges a file and `model.layers=4` changes a value of it. The order of the overrides matters
// only if two of them set one key.
#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// One mapping with all overrides. A mapping in it that has a `base` or an importer's key replaces
/// the file's mapping, unless the importer takes names.
Node parse_overrides(const std::vector<std::string>& options,
                     const std::vector<Importer>& importers, Diagnostics& diagnostics);

}  // namespace tiersim
