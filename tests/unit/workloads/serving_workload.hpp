#pragma once
// A workload from the text of a file, and the requests of a source.
#include <map>
#include <optional>
#include <string>
#include <utility>
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

/// The requests that wait for the end of some request at `now`.
inline std::vector<Request> after_completion(RequestSource& source, SimTime now,
                                             const Request& ended = {}) {
  std::vector<Request> out;
  source.after_completion(ended, now, out);
  return out;
}

/// All requests of a source at a server that works on any number at once and takes
/// `service(request)` for each, in the order of their ends.
template <class Service>
std::vector<Request> requests_at(RequestSource& source, const Service& service) {
  std::map<std::pair<SimTime, std::int64_t>, Request> present;  // by end
  const auto take = [&](Request request) {
    const SimTime end = request.arrival + service(request);
    present.emplace(std::pair(end, request.id), std::move(request));
  };
  std::vector<Request> all;
  std::optional<Request> start = source.next();
  while (start || !present.empty()) {
    if (start && (present.empty() || start->arrival <= present.begin()->first.first)) {
      take(*std::move(start));
      start = source.next();
      continue;
    }
    auto ended = present.extract(present.begin());
    for (Request& next : after_completion(source, ended.key().first, ended.mapped()))
      take(std::move(next));
    all.push_back(std::move(ended.mapped()));
    if (!start) start = source.next();
  }
  return all;
}

}  // namespace tiersim::testing
