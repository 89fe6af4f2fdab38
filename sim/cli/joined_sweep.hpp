#pragma once
// `tiersim sweep --join`: several processes share the points of a sweep, in any number, started by
// mpirun, Slurm or hand on machines that see one folder.
#include <filesystem>

#include "sim/cli/sweep_steps.hpp"

namespace tiersim::cli {

/// The part of a store that a slot of its ClaimsFile writes; slots count from 1.
std::filesystem::path part_of(const std::filesystem::path& store, std::size_t slot);

/// Each process claims a few points at a time (ClaimsFile) and writes them into a part of its own
/// beside the store. One without points left takes over the claims and the part of a process that
/// is gone, so that only what that one had not stored is computed again. The last process merges
/// the parts and reports; the others are silent on stdout.
ExitCode sweep_jointly(const SweepArguments& options, SweepPlan& plan, const SweepOptions& how,
                       const std::filesystem::path& path);

}  // namespace tiersim::cli
