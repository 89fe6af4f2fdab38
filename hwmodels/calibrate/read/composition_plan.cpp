#include "hwmodels/calibrate/read/composition_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/json_fields.hpp"

namespace tiersim {
namespace {

TimedWork work_of(JsonFields work) {
  const auto amount = [&](const char* key) { return static_cast<double>(work.whole(key, 0)); };
  TimedWork out;
  out.memory_bytes = amount("read_bytes") + amount("written_bytes");
  out.link_read_bytes = amount("link_read_bytes");
  out.link_write_bytes = amount("link_written_bytes");
  out.requested_bytes = amount("requested_bytes");
  out.flops = std::max(amount("flops"), amount("issued_flops"));
  work.finish();
  return out;
}

PlannedPart part_of(JsonFields& part) {
  PlannedPart out;
  out.kernel.name = part.text("case");
  out.timed_as = part.text("timed_as");
  out.kernel.kernel = part.text("kernel");
  out.kernel.variant = part.text("variant");
  out.kernel.dtype = part.text("dtype");
  out.kernel.baseline = part.flag("baseline");
  out.kernel.shape = part.sizes("shape");
  out.kernel.work = work_of(part.object("work"));
  part.finish();
  return out;
}

PlannedStep step_of(JsonFields& step, std::size_t parts, std::size_t number) {
  PlannedStep out;
  const auto index = [&](const char* key, std::size_t below) {
    const std::int64_t value = step.whole(key, 0);
    if (value < static_cast<std::int64_t>(below)) return static_cast<std::size_t>(value);
    step.fail(key, fmt::format("{} is not below {}", value, below));
    return std::size_t{0};
  };
  out.part = index("part", parts);
  out.stream = index("stream", 2);
  for (const std::int64_t before : step.wholes("after", 0)) {
    if (before < static_cast<std::int64_t>(number))
      out.after.push_back(static_cast<std::size_t>(before));
    else
      step.fail("after",
                fmt::format("step {} waits for step {}, which is no earlier one", number, before));
  }
  step.finish();
  return out;
}

}  // namespace

CompositionPlan read_composition_plan(const std::string& file, const std::string& text,
                                      Diagnostics& diagnostics) {
  CompositionPlan out;
  JsonDocument json;
  if (!parse_json(file, text, json, diagnostics)) return out;
  JsonFields plan(json.root(), "", file, diagnostics);
  plan.choice("schema", {"tiersim.composition_plan/v1"});
  out.build_id = plan.text("build_id");
  std::set<std::string> names;
  for (JsonFields& sequence : plan.list("sequences")) {
    PlannedSequence made;
    made.name = sequence.text("name");
    sequence.text("experiment");
    made.missing = sequence.text("missing");
    for (JsonFields& part : sequence.list("parts")) made.parts.push_back(part_of(part));
    for (JsonFields& step : sequence.list("steps"))
      made.steps.push_back(step_of(step, made.parts.size(), made.steps.size()));
    if (made.missing.empty() && made.steps.empty())
      sequence.fail("steps", made.name + " has no steps");
    if (!names.insert(made.name).second) sequence.fail("name", made.name + " stands twice");
    sequence.finish();
    out.sequences.push_back(std::move(made));
  }
  plan.finish();
  return out;
}

}  // namespace tiersim
