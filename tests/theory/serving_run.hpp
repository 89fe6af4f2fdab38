#pragma once
// A server run with the test's own observer, which records all times of every request in
// picoseconds.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"
#include "sim/serving/serve.hpp"
#include "sim/serving/server.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

/// One H100 with Llama-2 7B whose CPU takes no time, with `set` on top.
inline ServingConfig serving_config(const std::string& file, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      configs() / file,
      {.overrides = set, .config_root = configs(), .importers = make_all_importers()}, diagnostics);
  auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return config;
}

/// The record of a shipped file with `set` on top; a refusal fails the test.
inline RunRecord record_of(const std::string& file, const std::vector<std::string>& set) {
  const auto record = serve(serving_config(file, set));
  EXPECT_TRUE(record) << record.error();
  return record ? *record : RunRecord{};
}

/// The metric's value; 0 where the record has none, which fails the test.
inline double metric_of(const RunRecord& record, const std::string& name) {
  const auto found = record.metrics.find(name);
  EXPECT_NE(found, record.metrics.end()) << name;
  return found == record.metrics.end() ? 0 : found->second.value;
}

struct Served final : ServingObserver {
  std::vector<RequestOutcome> requests;  ///< by id
  std::vector<IterationSample> iterations;
  SimTime end{};

  void on_arrival(SimTime) override {}
  void on_iteration(const IterationSample& sample) override { iterations.push_back(sample); }
  void on_gap(SimTime, Duration, std::int64_t) override {}
  void on_finish(const RequestOutcome& outcome) override { requests.push_back(outcome); }
};

inline Served run_server(const ServingConfig& config) {
  const System all = build_system(config.scenario);
  const System one = build_stage_system(config.scenario);
  const auto layout = kv_layout(config, one);
  EXPECT_TRUE(layout) << layout.error();
  auto source = make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
  EXPECT_TRUE(source) << source.error();
  const std::int64_t count = replicas(config.scenario);
  Served served;
  Engine engine;
  FlowNetwork network(engine);
  ServingHardware hardware(engine, network, all, one, count * config.scenario.parallel.pipeline,
                           {});
  IterationCost cost(config, one);
  Resource hosts(engine, count);
  ServingParts parts{.engine = engine,
                     .config = config,
                     .system = one,
                     .layout = *layout,
                     .cost = cost,
                     .hardware = hardware,
                     .hosts = hosts,
                     .observer = served,
                     .on_held = [](TierId, std::int64_t) {},
                     .replicas = {.first = 0, .count = count}};
  Server server(std::span(&parts, 1), **source);
  server.start();
  server.admit();
  const auto totals = server.finish();
  EXPECT_TRUE(totals) << totals.error();
  served.end = engine.now();
  std::ranges::sort(served.requests, {}, &RequestOutcome::id);
  EXPECT_EQ(static_cast<std::int64_t>(served.requests.size()),
            request_count(config.workload, static_cast<std::uint64_t>(config.seed)));
  return served;
}

}  // namespace tiersim::testing
