#pragma once
// `--set a.b.c=value`: a path of keys (a list element by its position, from 0) and a YAML value.
// The overrides lie over the top-level file before its bases are loaded, so `model.base=...`
// exchanges a file and `model.layers=4` changes what it says; their order matters only where two
// set one key.
#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// One mapping with all overrides. A mapping in it that has a `base` or the key of an importer, but
/// for one that takes names, replaces the file's.
Node parse_overrides(const std::vector<std::string>& options,
                     const std::vector<Importer>& importers, Diagnostics& diagnostics);

}  // namespace tiersim
