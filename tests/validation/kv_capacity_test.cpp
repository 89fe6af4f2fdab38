// The pool of KV blocks beside what engines print when they start.
#include <gtest/gtest.h>

#include "sim/serving/kv_layout.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::kv_capacity_test {
namespace {

std::int64_t positions(const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / "serving/llama3_8b_h100_poisson.yaml",
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  const auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  const auto layout = kv_layout(config, build_stage_system(config.scenario));
  EXPECT_TRUE(layout) << layout.error();
  return layout->capacity.positions;
}

// vLLM 0.10.2 with llava-v1.6-mistral-7b in fp16 on a card of 79.19 GiB, 0.9 of it, 16384 batched
// tokens: 14.08 GiB of weights, of which the language model has 13.49, and 451,744 tokens. The
// picture tower's weights would hold 4,830 more.
TEST(KvCapacity, IsThatOfAnEnginesLog) {
  constexpr double kTower = (14.0786 - 13.49) * 8192;  // positions of 128 KiB in a GiB
  EXPECT_NEAR(static_cast<double>(positions({"model.base=models/mistral_7b.yaml",
                                             "server.scheduler.max_batched_tokens=16384"})) /
                  (451'744 + kTower),
              1, 0.02);
}

// The driver shows 81,559 MiB of an H100, 6.6 % more than the 80 GB of its data sheet.
TEST(KvCapacity, CountsWhatTheDriverShows) {
  const std::int64_t shown = positions({});
  const std::int64_t printed = positions(
      {"system.tiers.hbm.memory.capacity={value: 80 GB, class: specification, source: x}"});
  const double more = 0.9 * (81'559.0 * 1'048'576 - 80e9);
  EXPECT_NEAR(static_cast<double>(shown - printed) * 131'072 / more, 1, 1e-3);
}

// The pool takes a share of what is left, to a block.
TEST(KvCapacity, TakesItsShareOfWhatIsLeft) {
  const std::int64_t all = positions({});
  const std::int64_t most = positions({"server.kv.share=0.9"});
  EXPECT_NEAR(static_cast<double>(most), 0.9 * static_cast<double>(all), 16);
}

}  // namespace
}  // namespace tiersim::kv_capacity_test
