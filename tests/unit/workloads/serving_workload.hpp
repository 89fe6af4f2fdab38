#pragma once
// A workload from the text of a file, and the requests of a source.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/importers.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim::testing {

struct LoadedWorkload {
  WorkloadConfig config;
  std::string mistakes;
};

inline LoadedWorkload load_workload(const std::string& text,
                                    const std::vector<std::string>& set = {},
                                    const std::string& file = "w.yaml") {
  Diagnostics diagnostics;
  const Document document =
      load_text(text, file, {.overrides = set, .importers = make_importers()}, diagnostics);
  auto config = read<WorkloadConfig>(document, "workload", diagnostics);
  return {std::move(config), diagnostics.text()};
}

inline WorkloadConfig workload(const std::string& text) {
  LoadedWorkload loaded = load_workload(text);
  EXPECT_EQ(loaded.mistakes, "") << text;
  return loaded.config;
}

inline std::unique_ptr<RequestSource> source_of(const WorkloadConfig& config,
                                                std::uint64_t seed = 1) {
  auto source = make_request_source(config, seed);
  EXPECT_TRUE(source) << source.error();
  return *std::move(source);
}

/// All requests of an open source or a trace.
inline std::vector<Request> all_requests(const WorkloadConfig& config, std::uint64_t seed = 1) {
  const auto source = source_of(config, seed);
  std::vector<Request> all;
  while (auto request = source->next()) all.push_back(std::move(*request));
  return all;
}

}  // namespace tiersim::testing
