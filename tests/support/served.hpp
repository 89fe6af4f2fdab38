#pragma once
// Shipped serving files with settings on top: what they say, and a run of them. A mistake fails the
// test.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/serving/serve.hpp"
#include "sim/step/importers.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

/// The server of a file below configs/.
inline ServingConfig serving(const std::string& file, const std::vector<std::string>& set = {}) {
  Diagnostics diagnostics;
  const Document document = load_document(
      configs() / file,
      {.overrides = set, .config_root = configs(), .importers = make_all_importers()}, diagnostics);
  auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return config;
}

/// The record of its run; an empty one where it fails.
inline RunRecord served(const std::string& file, const std::vector<std::string>& set = {}) {
  auto record = serve(serving(file, set));
  EXPECT_TRUE(record) << record.error();
  return record ? *std::move(record) : RunRecord{};
}

}  // namespace tiersim::testing
