// campaign STAGE --out FOLDER [options]: one stage of kernels/campaign.sh, which is the command for
// people. stdout: data (list, plan, summary); stderr: a line for each case. Exit: 0 done, 1
// internal or a folder of another campaign, 2 usage, 4 some cases failed or were left, 5 an
// impossible timing or an error above its tolerance.
#include <cstdio>
#include <exception>
#include <functional>
#include <map>

#include "kernels/campaign/composition_json.hpp"
#include "kernels/campaign/stage_file.hpp"
#include "kernels/campaign/stages.hpp"
#include "kernels/campaign/summary.hpp"
#include "kernels/cases/all_cases.hpp"
#include "kernels/device/platform.cuh"

namespace {

using namespace tiersim::kernels;         // NOLINT(google-build-using-namespace): a main file
using namespace tiersim::kernels::bench;  // NOLINT(google-build-using-namespace)

int list_cases(const Options& options) {
  for (const CaseEntry& entry : all_cases(!TS_ON_CARD || options.toy ? Sizes::toy : Sizes::timed)) {
    std::printf("%s\n", entry.name.c_str());
  }
  return kExitDone;
}

// Formulas need no card, so the sizes are those of the card everywhere.
int print_plan(const Options& options) {
  const Sizes sizes = options.toy ? Sizes::toy : Sizes::timed;
  const Json plan = plan_json(compositions(all_cases(sizes), sizes), options.build_id);
  std::printf("%s\n", plan.dump().c_str());
  return kExitDone;
}

int print_summary(const Options& options) {
  std::fputs(summary(options.out).c_str(), stdout);
  return kExitDone;
}

int run(const Options& options) {
  using Stage = std::function<int(const Options&)>;
  const auto on_device = [](int (*stage)(const Options&, const DeviceInfo&)) {
    return [stage](const Options& o) {
      const int code = stage(o, device_info());
      check_size(o.out);
      return code;
    };
  };
  const std::map<std::string, Stage> stages = {{"list", list_cases},
                                               {"plan", print_plan},
                                               {"summary", print_summary},
                                               {"conformance", on_device(run_conformance)},
                                               {"correctness", on_device(run_correctness)},
                                               {"ceilings", on_device(run_timings)},
                                               {"timing", on_device(run_timings)},
                                               {"ceilings_again", on_device(run_timings)},
                                               {"composition", on_device(run_composition)}};
  const auto stage = stages.find(options.stage);
  if (stage == stages.end()) throw UsageError("no stage '" + options.stage + "'");
  if (options.stage != "list" && options.stage != "plan" && options.out.empty())
    throw UsageError("--out FOLDER is missing");
  return stage->second(options);
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(parse_options({values + 1, values + count}));
  } catch (const UsageError& error) {
    std::fprintf(stderr, "campaign: %s\n", error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "campaign: %s\n", error.what());
    return kExitInternal;
  }
}
