#pragma once
// Formats of others that a configuration of workloads may name a file of.
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// For LoadOptions::importers, wherever a model or a method may stand in the document.
std::vector<Importer> make_importers();

}  // namespace tiersim
