#include "kernels/campaign/composition_json.hpp"

#include "kernels/campaign/record.hpp"

namespace tiersim::kernels::bench {
namespace {

Json part_json(const Part& part) {
  const auto made = part.entry.make();
  const CaseInfo info = made->info();
  Json shape{Json::Object{}};
  for (const auto& [name, value] : info.shape) shape.set(name, value);
  return Json::Object{{"case", part.entry.name},   {"timed_as", part.timed_as},
                      {"kernel", info.kernel},     {"variant", info.variant},
                      {"dtype", info.dtype},       {"baseline", info.baseline},
                      {"shape", std::move(shape)}, {"work", to_json(made->work())}};
}

Json step_json(const Step& step) {
  Json after{Json::Array{}};
  for (const int before : step.after) after.push_back(before);
  return Json::Object{{"part", static_cast<std::int64_t>(step.part)},
                      {"stream", step.stream},
                      {"after", std::move(after)}};
}

}  // namespace

Json plan_json(const std::vector<Sequence>& sequences, const std::string& build_id) {
  Json all{Json::Array{}};
  for (const Sequence& sequence : sequences) {
    Json parts{Json::Array{}};
    Json steps{Json::Array{}};
    if (sequence.missing.empty()) {
      for (const Part& part : sequence.parts) parts.push_back(part_json(part));
      for (const Step& step : sequence.steps) steps.push_back(step_json(step));
    }
    all.push_back(Json::Object{{"name", sequence.name},
                               {"experiment", sequence.experiment},
                               {"missing", sequence.missing},
                               {"parts", std::move(parts)},
                               {"steps", std::move(steps)}});
  }
  return Json::Object{{"schema", "tiersim.composition_plan/v1"},
                      {"build_id", build_id},
                      {"sequences", std::move(all)}};
}

}  // namespace tiersim::kernels::bench
