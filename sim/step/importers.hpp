#pragma once
// All keys of a scenario that name a file of another format, or a calibration by its name.
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// For LoadOptions::importers, wherever a scenario or a system may stand in the document.
std::vector<Importer> make_all_importers();

}  // namespace tiersim
