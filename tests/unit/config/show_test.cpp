#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::show_test {
namespace {

using namespace sample;

TEST(ShowConfig, GivesEveryValueWithItsOrigin) {
  const Read got = read_text(kText, {"step.batch=9", "path.0=hbm"});
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(show_config(got.document, got.config), R"(schema: tiersim.experiment/v1
name: demo  # a.yaml:2
note: none  # default
model:
  name: tiny  # a.yaml:3
  layers: 2  # a.yaml:3
  heads: 8  # a.yaml:3
  kv_heads: 2  # a.yaml:3
  tied: true  # a.yaml:3
devices:
  hbm:
    model: memory  # a.yaml:6
    capacity: {value: 141 GB, class: specification, source: data sheet}  # a.yaml:7
    peak: {value: 4.8 TB/s, class: assumed, source: not stated}  # a.yaml:8
    efficiency: {value: 1, class: assumed, source: ideal}  # default
  pcie:
    model: link  # a.yaml:9
    raw: 64 GB/s  # a.yaml:9
    lanes: 8  # a.yaml:9
    latency: 0 ps  # default
step:
  batch: 9  # --set step.batch=9
  context: 8192  # a.yaml:10
  kv_type: fp8  # a.yaml:10
  also: []  # default
path: [hbm, hbm]  # --set path.0=hbm, a.yaml:11
windows:
  - from: 1 ms  # a.yaml:13
    to: 2 ms  # a.yaml:13
warm_up:
  from: 0 ps  # a.yaml:14
  to: 0.5 ms  # a.yaml:14
compute: 1 TFLOP/s  # default
budget: 1 KFLOP  # default
)");
}

TEST(ShowConfig, CanBeLoadedAgain) {
  const Read got = read_text(with("name: demo", R"(name: "- {x}: 'y' # \"z\"\n")"),
                             {"model.name=null-ish", "devices.a b={model: link, raw: 1 B/s}"});
  EXPECT_EQ(got.mistakes, "");
  const Read again = read_text(show_config(got.document, got.config));
  EXPECT_EQ(again.mistakes, "");
  EXPECT_EQ(canonical_json(again.config), canonical_json(got.config));
}

TEST(ShowConfig, QuotesTextThatYamlTakesForNothing) {
  for (const char* name : {"null", "~", "", " x", "a: b", "a #b", "[", "*a", "-", "true"}) {
    Read got = read_text(kText);
    got.config.name = name;
    const Read again = read_text(show_config(got.document, got.config));
    EXPECT_EQ(again.mistakes, "") << name;
    EXPECT_EQ(again.config.name, name);
  }
}

}  // namespace
}  // namespace tiersim::show_test
