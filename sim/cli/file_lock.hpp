#pragma once
// Keeps a second process from writing to the same store. The kernel releases the lock of a killed
// process.
#include <filesystem>

namespace tiersim::cli {

class FileLock {
 public:
  /// Locks `<path>.lock`. Throws Failure (usage) if another process holds the lock.
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace tiersim::cli
