// The stages of a campaign that run cases. Each saves its file after every case, skips cases for
// which no time is left, and returns the exit code of the program.
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
constexpr int kExitSomeFailed = 4;  // or were left for lack of time
constexpr int kExitMissed = 5;      // an impossible timing, an error above its tolerance
constexpr int kExitAgain = 75;      // a case hung or broke the device: the stage must run again

// The context of a stage's file: date, host, build, device, peaks.
Json make_context(const Options& options, const DeviceInfo& device, const Peaks& peaks);

// Hard peaks of the device, and the ceilings where they have been timed. A dry run uses the peaks
// of an H200, so that the check runs.
Peaks known_peaks(const Options& options, const DeviceInfo& device);

// Prints a line about a case to stderr; stdout stays empty.
void say(const std::string& name, const std::string& what);
// The exit code of a stage. It also prints `left`, the number of cases for which no time was left.
int verdict(StageFile& file, std::size_t left, bool missed);

int run_conformance(const Options& options, const DeviceInfo& device);  // of --lines
int run_correctness(const Options& options, const DeviceInfo& device);
int run_composition(const Options& options, const DeviceInfo& device);
int run_timings(const Options& options,
                const DeviceInfo& device);  // ceilings, timing, ceilings_again

}  // namespace tiersim::kernels::bench
