#include "sim/cli/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {
namespace {

// True where the opened file still has this name: the previous holder of the lock may have removed
// it meanwhile.
bool is_current(int file, const std::filesystem::path& path) {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path) : path_(path) {
  path_ += ".lock";
  constexpr mode_t kMode = 0666;
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (file_ < 0)
      throw Failure(ExitCode::usage,
                    printable(fmt::format("tiersim: error: cannot write '{}': {}", path_.string(),
                                          std::generic_category().message(errno))));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      ::close(file_);
      throw Failure(
          ExitCode::usage,
          printable(fmt::format("tiersim: error: another process is writing to '{}'; a shard needs "
                                "a file of its own (-o), to be put together by `tiersim merge`",
                                path.string())));
    }
    if (is_current(file_, path_)) return;
    ::close(file_);
  }
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace tiersim::cli
