#pragma once
// Files of the command line: where the shipped ones are, and writing results without leaving half a
// file.
#include <filesystem>
#include <string>
#include <vector>

namespace tiersim {

/// Folder with devices/, models/, systems/, scenarios/: TIERSIM_CONFIGS, else configs/ or
/// share/tiersim/configs in a folder above the program. Throws Failure when there is none.
std::filesystem::path config_root();

/// Folder of the paper targets: reports/targets or targets beside config_root().
std::filesystem::path targets_root();

/// Whole text of a file. Throws Failure.
std::string read_file(const std::filesystem::path& path);

/// Whether a file of this name could be written: there is its folder, and it is none itself. For
/// names that the user typed, before the work that is to be written: a folder that is not there is
/// a typing error more often than a wish. "-" is stdout, and no name is no file. Throws Failure.
void expect_writable(const std::filesystem::path& path);

/// Throws Failure where writing `path` would destroy what the work is made of, or hours of it: it
/// is one of `sources` (files; "DB:POINT" is of the file DB) under whatever name, or a store of
/// sweeps. "-" is stdout, and no name is no file.
void expect_not_a_source(const std::filesystem::path& path,
                         const std::vector<std::string>& sources = {});

/// Writes beside the file and renames, so that the file is either whole or as it was. "-" is
/// stdout. Creates missing folders. Never over a database, which no text of ours replaces. Throws
/// Failure.
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
