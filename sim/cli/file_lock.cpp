#include "sim/cli/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
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

Failure in_use(const std::filesystem::path& path) {
  return {ExitCode::usage,
          printable(fmt::format("tiersim: error: another process is writing to '{}'; a shard needs "
                                "a file of its own (-o), to be put together by `tiersim merge`",
                                path.string()))};
}

Failure cannot_write(const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno);
  return {ExitCode::usage,
          printable(fmt::format("tiersim: error: cannot write '{}': {}", path.string(), reason))};
}

int open_or_fail(const std::filesystem::path& path) {
  constexpr mode_t kMode = 0666;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) throw cannot_write(path);
  return file;
}

// Locks a byte that SQLite, which locks others, never reaches. The lock is of the open file rather
// than of the process, so that SQLite's own use of the file does not release it.
bool lock_byte(int file) {
  struct flock what = {};
  what.l_type = F_WRLCK;
  what.l_whence = SEEK_SET;
  what.l_start = std::numeric_limits<off_t>::max() - 1;
  what.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &what) == 0;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path)
    : target_(std::filesystem::weakly_canonical(path)), path_(target_) {
  path_ += ".lock";
  for (;;) {
    beside_ = open_or_fail(path_);
    if (::flock(beside_, LOCK_EX | LOCK_NB) != 0) {
      ::close(beside_);
      throw in_use(path);
    }
    if (is_current(beside_, path_)) break;
    ::close(beside_);
  }
  try {
    file_ = open_or_fail(target_);
    owns_ = lock_byte(file_);
    if (!owns_) throw errno == EAGAIN || errno == EACCES ? in_use(path) : cannot_write(path);
  } catch (...) {
    release();
    throw;
  }
}

FileLock::~FileLock() {
  release();
}

void FileLock::release() {
  struct stat status = {};
  if (owns_ && ::fstat(file_, &status) == 0 && status.st_size == 0 && is_current(file_, target_))
    ::unlink(target_.c_str());
  if (file_ >= 0) ::close(file_);
  ::unlink(path_.c_str());
  ::close(beside_);
}

}  // namespace tiersim::cli
