#pragma once
// The text of a file, with a limit: a device has no end, and a named pipe without a writer no
// begin.
#include <cstddef>
#include <filesystem>
#include <string>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Most bytes of a file that is data rather than configuration.
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30U;

/// The whole text, or the reason why it cannot be read ("is a folder", "is larger than 16 MiB").
/// Pipes of the shell (/dev/fd) are read, named ones are not.
Expected<std::string> file_text(const std::filesystem::path& path,
                                std::size_t most = kMostFileBytes);

}  // namespace tiersim
