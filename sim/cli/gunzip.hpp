#pragma once
// Files that gzip compressed.
#include <string>

namespace tiersim::cli {

/// The text itself, or what it holds where it is the content of a gzip file. `path` is its name in
/// the Failure for a file that is damaged or that holds more than 2 GiB.
std::string gunzipped(const std::string& path, std::string text);

}  // namespace tiersim::cli
