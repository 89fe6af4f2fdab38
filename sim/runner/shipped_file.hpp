#pragma once
// Shipped files by their names.
#include <filesystem>

namespace tiersim {

/// `path` where there is such a file; else the shipped one of this name below config_root(), such
/// as "scenarios/maple/llama2_7b_maple.yaml", where there is that; else `path`.
std::filesystem::path shipped_file(const std::filesystem::path& path);

}  // namespace tiersim
