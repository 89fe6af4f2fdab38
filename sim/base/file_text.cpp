#include "sim/base/file_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace tiersim {
namespace fs = std::filesystem;

Expected<std::string> file_text(const fs::path& path, std::size_t most) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return Unexpected(std::string("is a folder"));
  if (fs::is_fifo(status) && !path.string().starts_with("/dev/"))
    return Unexpected(std::string("is a named pipe, which may never have data"));
  const auto too_large = [&] {
    return Unexpected(fmt::format("is larger than {} MiB", most >> 20U));
  };
  std::string text;
  if (fs::is_regular_file(status)) {
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error && size > most) return too_large();
    if (!error) text.reserve(static_cast<std::size_t>(size));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::array<char, 1U << 16U> part{};
  while (in && text.size() <= most) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > most) return too_large();
  if (in.is_open() && !in.bad()) return text;
  return Unexpected(std::generic_category().message(errno == 0 ? EIO : errno));
}

}  // namespace tiersim
