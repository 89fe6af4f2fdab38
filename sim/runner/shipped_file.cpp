#include "sim/runner/shipped_file.hpp"

#include <system_error>

#include "sim/runner/files.hpp"

namespace tiersim {

std::filesystem::path shipped_file(const std::filesystem::path& path) {
  std::error_code error;
  if (path.is_absolute() || std::filesystem::exists(path, error)) return path;
  const std::filesystem::path shipped = config_root() / path;
  return std::filesystem::exists(shipped, error) ? shipped : path;
}

}  // namespace tiersim
