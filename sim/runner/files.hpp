#pragma once
// Files of the command line: finds the shipped files, and writes results without ever leaving half
// a file.
#include <filesystem>
#include <string>
#include <vector>

namespace tiersim {

/// Folder with devices/, models/, systems/, scenarios/: TIERSIM_CONFIGS, else configs/ or
/// share/tiersim/configs in a folder above the program. Throws Failure if there is none.
std::filesystem::path config_root();

/// Folder of the paper targets: reports/targets or targets beside config_root().
std::filesystem::path targets_root();

/// Whole text of a file. Throws Failure.
std::string read_file(const std::filesystem::path& path);

/// Throws Failure unless a file of this name could be written: its folder exists, and it is not a
/// folder itself. For names that the user typed, before the work whose results go there: a missing
/// folder is more often a typing error than intended. "-" is stdout, and an empty name is no file.
void expect_writable(const std::filesystem::path& path);

/// Throws Failure if writing `path` would destroy input of the work, or hours of results: it is one
/// of `sources` (files; "DB:POINT" is of the file DB) under any name, or a store of sweeps. "-" is
/// stdout, and an empty name is no file.
void expect_not_a_source(const std::filesystem::path& path,
                         const std::vector<std::string>& sources = {});

/// A new file beside another one, open for writing, of a name that nobody can foresee.
struct NewFile {
  int descriptor = -1;  ///< -1: it could not be made, and errno says why
  std::filesystem::path path = {};
};
NewFile open_beside(const std::filesystem::path& path);

/// Writes a temporary file beside `path` and renames it, so that the file is either whole or
/// unchanged. "-" is stdout. Creates missing folders. Never overwrites a database. Throws Failure.
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
