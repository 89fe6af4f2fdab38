// The stages of a campaign that run cases. Each keeps its file after every case, leaves what it has
// no time for, and returns the exit code of the program.
#pragma once
#include "kernels/campaign/json.hpp"
#include "kernels/campaign/options.hpp"
#include "kernels/campaign/physics.hpp"
#include "kernels/campaign/stage_file.hpp"
#include "kernels/runtime/device_info.hpp"

namespace tiersim::kernels::bench {

constexpr int kExitDone = 0;
constexpr int kExitInternal = 1;
constexpr int kExitUsage = 2;
constexpr int kExitSomeFailed = 4;  // or were left for want of time
constexpr int kExitMissed = 5;      // an impossible timing, an error above its tolerance
constexpr int kExitAgain = 75;      // a case hung or broke the device: run the stage again

// The context of a stage's file: date, host, build, device, peaks.
Json make_context(const Options& options, const DeviceInfo& device, const Peaks& peaks);

// Hard peaks of the device and, where the ceilings have been timed, what they reached. A dry run is
// held against the peaks of an H200, so that the check runs.
Peaks known_peaks(const Options& options, const DeviceInfo& device);

// A line a case on stderr; stdout stays empty.
void say(const std::string& name, const std::string& what);
// The exit code of a stage; `left`: cases for which there was no time, which it says.
int verdict(const StageFile& file, std::size_t left, bool missed);

int run_conformance(const Options& options, const DeviceInfo& device);  // of --lines
int run_correctness(const Options& options, const DeviceInfo& device);
int run_composition(const Options& options, const DeviceInfo& device);
int run_timings(const Options& options,
                const DeviceInfo& device);  // ceilings, timing, ceilings_again

}  // namespace tiersim::kernels::bench
