#pragma once
// Importers of foreign file formats that a workload's configuration may refer to.
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// Importers for LoadOptions::importers, wherever a document may contain a model or a method.
std::vector<Importer> make_importers();

}  // namespace tiersim
