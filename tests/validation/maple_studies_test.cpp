// The figures of MAPLE by the shipped targets: every check passes on simulated records, and fails
// on records with a planted error in its quantity.
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "reports/papers/reproduce/targets.hpp"
#include "reports/papers/studies/study_result.hpp"
#include "sim/runner/point_runner.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::maple_studies_test {
namespace {

LoadOptions options() {
  return {.overrides = {}, .config_root = testing::configs(), .importers = make_all_importers()};
}

const Targets& targets() {
  static const Targets once = [] {
    Diagnostics diagnostics;
    const auto path = testing::configs().parent_path() / "reports/targets/maple.yaml";
    const Document document = load_document(path, options(), diagnostics);
    auto read_targets = read<Targets>(document, "targets", diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    return read_targets;
  }();
  return once;
}

StudyResult simulated(const Study& study) {
  PointRunner runner(options());
  Diagnostics diagnostics;
  StudyResult result{.study = study, .rows = {}};
  for (const StudyPoint& point : points_of(study, targets().variants)) {
    const PointResult ran =
        runner.run({testing::configs() / point.scenario, point.set}, Evaluation::all, diagnostics);
    result.rows.push_back({point, ran.record, ran.problem});
  }
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return result;
}

// The record of row `i` with a planted error.
void doctor(StudyResult& result, std::size_t i, const std::function<void(RunRecord&)>& change) {
  auto record = std::make_shared<RunRecord>(*result.rows.at(i).record);
  change(*record);
  result.rows[i].record = record;
}

double& part(RunRecord& record, const std::string& name) {
  for (TimeShare& share : record.time_split)
    if (share.name == name) return share.seconds;
  throw std::out_of_range(name);
}

void scale_kv(RunRecord& record, double factor) {
  for (const char* name : {"kv", "link_wait"}) part(record, name) *= factor;
}

// The error that makes each check fail, by its id without "maple.". Rows of Figure 3: SparQ, MAPLE.
using Mistake = std::function<void(StudyResult&)>;
std::map<std::string, Mistake> mistakes() {
  std::map<std::string, Mistake> all;
  for (const std::string figure : {"fig1_left.hbm.", "fig1_left.pool."}) {
    all[figure + "kv_is_linear"] = [](StudyResult& r) {
      doctor(r, 3, [](RunRecord& record) { scale_kv(record, 1.001); });
    };
    all[figure + "kv_share_rises"] = [](StudyResult& r) {
      doctor(r, 5, [](RunRecord& record) { scale_kv(record, 0.1); });
    };
    all[figure + "kv_dominates"] = [](StudyResult& r) {
      doctor(r, 6, [](RunRecord& record) { part(record, "weights") = 1e3; });
    };
  }
  const auto metric = [](std::size_t row, const char* name, double value) -> Mistake {
    return [=](StudyResult& r) {
      doctor(r, row, [=](RunRecord& record) { record.metrics.at(name).value = value; });
    };
  };
  all["timed_kernels.loads_bound"] = [](StudyResult& r) {
    doctor(r, 3, [](RunRecord& record) { part(record, "weights") = 1e3; });
  };
  all["fig3_dataflow.sparq_crossings"] = metric(0, "far_round_trips_per_layer", 1);
  all["fig3_dataflow.maple_crossings"] = metric(1, "far_round_trips_per_layer", 2);
  all["fig3_dataflow.maple_screens_near"] = metric(1, "screening_far_bytes", 1);
  all["fig3_roofline.sparq_roof"] = metric(0, "screening_far_bytes", 0);
  all["fig3_roofline.maple_roof"] = metric(1, "screening_far_bytes", 1e12);
  all["fig3_roofline.throughput"] = metric(1, "screening_time_s", 1e3);
  all["fig3_roofline.below_roof"] = metric(1, "screening_time_s", 1e-6);
  return all;
}

std::string status_of(const StudyResult& result, const std::string& id) {
  for (const TargetResult& check : checked(result))
    if (check.id == id) return check.status;
  return "missing";
}

TEST(MapleFigures, EveryCheckHoldsAndEveryCheckCanFail) {
  const auto all = mistakes();
  std::size_t seen = 0;
  for (const Study& study : targets().studies) {
    if (study.checks.empty()) continue;
    const StudyResult result = simulated(study);
    for (const StudyCheck& check : study.checks) {
      EXPECT_EQ(status_of(result, check.id), "shape");
      const auto it = all.find(check.id.substr(std::string("maple.").size()));
      ASSERT_NE(it, all.end()) << check.id << " has no mistake that it finds";
      StudyResult wrong = result;
      it->second(wrong);
      EXPECT_EQ(status_of(wrong, check.id), "fail") << check.id;
      ++seen;
    }
  }
  EXPECT_EQ(seen, all.size());
}

// Time is whole picoseconds, so the parts of a step sum to it exactly.
TEST(MapleFigures, ThePartsOfEveryStepSumToIt) {
  for (const Study& study : targets().studies) {
    if (study.checks.empty()) continue;
    const StudyResult result = simulated(study);
    for (const StudyRow& row : result.rows) {
      double sum = 0;
      for (const TimeShare& share : row.record->time_split) sum += share.seconds;
      EXPECT_NEAR(sum, row.record->metrics.at("step_time_s").value, 1e-12) << study.id;
    }
  }
}

// 2 sequences x 65536 positions x 512 KiB: 64 GiB of keys and values. No read is faster than the
// peak of what it passes, and a step no faster than its reads.
TEST(MapleFigures, NoLoadBeatsThePeakOfItsWay) {
  for (const Study& study : targets().studies) {
    if (study.where != "Figure 1 left") continue;
    const StudyResult result = simulated(study);
    const RunRecord& longest = *result.rows.back().record;
    const double kv = cell_of("split.kv", longest).number().value();
    const double link = cell_of("split.link_wait", longest).number().value();
    constexpr double kBytes = 64.0 * (1LL << 30);
    EXPECT_GE(kv, kBytes / 4.8e12);
    if (study.id.ends_with("pool")) {
      EXPECT_GE(link, kBytes / 63.015e9);
    }
  }
}

TEST(MaplePoints, SettingsLieOverLoadedFilesAsTheyWouldWhenLoading) {
  const auto scenario = testing::configs() / "scenarios/maple/llama2_7b_maple.yaml";
  PointRunner shared(options());
  Diagnostics diagnostics;
  const std::vector<std::vector<std::string>> settings{
      {},
      {"step.batch=3"},
      {"model.base=models/llama2_13b.yaml", "model.layers=2"},
      {"model.layers=3", "model.base=models/llama2_13b.yaml"},
      {"system.tiers={hbm: {memory: {capacity: 100 GB}}}", "step.batch=2"},
      {"system.tiers.pool.path.0=pcie"}};
  for (const auto& set : settings) {
    PointRunner alone(options());
    const auto point = Point{scenario, set};
    const RunRecord direct =
        simulate(testing::scenario("scenarios/maple/llama2_7b_maple.yaml", set), Evaluation::all)
            ->record;
    EXPECT_EQ(to_json(*shared.run(point, Evaluation::all, diagnostics).record), to_json(direct));
    EXPECT_EQ(to_json(*alone.run(point, Evaluation::all, diagnostics).record), to_json(direct));
  }
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(shared.simulated(), settings.size());
  shared.run({scenario, {"step.batch=many"}}, Evaluation::all, diagnostics);
  EXPECT_NE(diagnostics.text().find("'many'"), std::string::npos);
}

}  // namespace
}  // namespace tiersim::maple_studies_test
