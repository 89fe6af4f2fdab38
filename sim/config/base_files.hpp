#pragma once
// Base files that several documents share: each is read and parsed once.
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sim/config/tree.hpp"

namespace tiersim {

/// A base file with its own bases and imports laid under it.
struct BaseFile {
  Node root;
  std::size_t nodes = 0;
  std::size_t depth = 0;
};

/// The base files that earlier documents loaded. All documents must have the same configuration
/// root and importers, and the files must not change meanwhile. Several threads may use one object.
/// A document with a mistake keeps no further files, so that the next one reports its mistakes too.
class BaseFiles {
 public:
  /// Null where the file was not loaded yet.
  std::shared_ptr<const BaseFile> find(const std::string& path) const {
    const std::scoped_lock lock(mutex_);
    const auto at = files_.find(path);
    return at == files_.end() ? nullptr : at->second;
  }
  void keep(const std::string& path, std::shared_ptr<const BaseFile> file) {
    const std::scoped_lock lock(mutex_);
    files_.emplace(path, std::move(file));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const BaseFile>> files_;
};

}  // namespace tiersim
