#pragma once
// Runs of shipped serving files with settings on top.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/serving/serve.hpp"
#include "sim/step/importers.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

/// The record of a file below configs/, with these settings. Fails the test at a mistake.
inline RunRecord served(const std::string& file, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      configs() / file,
      {.overrides = set, .config_root = configs(), .importers = make_all_importers()}, diagnostics);
  const auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  auto record = serve(config);
  EXPECT_TRUE(record) << record.error();
  return *std::move(record);
}

}  // namespace tiersim::testing
