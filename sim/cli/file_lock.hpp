#pragma once
// Keeps a second process from writing to the same store, by whatever name it is called: symbolic
// links are followed, and the file itself is locked as well, which hard links share. The kernel
// releases the locks of a killed process.
#include <filesystem>

namespace tiersim::cli {

class FileLock {
 public:
  /// Locks `<file>.lock` and the file, which is made if it is missing and removed at the end if it
  /// is still empty. Throws Failure (usage) if another process holds a lock of it.
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  void release();

  std::filesystem::path target_;  // what the path leads to
  std::filesystem::path path_;    // of the lock file beside it
  int beside_ = -1;
  int file_ = -1;
  bool owns_ = false;  // the lock of the file itself
};

}  // namespace tiersim::cli
