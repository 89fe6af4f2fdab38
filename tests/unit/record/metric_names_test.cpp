#include "sim/record/metric_names.hpp"

#include <gtest/gtest.h>

#include "sim/record/metrics.hpp"

namespace tiersim::metric_names_test {
namespace {

std::string resolved(const std::string& name) {
  const auto full = resolve_metric(name);
  return full ? *full : full.error();
}

TEST(MetricNames, AreTakenWithoutTheirUnits) {
  EXPECT_EQ(resolved("throughput"), "throughput_tokens_per_s");
  EXPECT_EQ(resolved("throughput_tokens_per_s"), "throughput_tokens_per_s");
  EXPECT_EQ(resolved("tpot"), "tpot_s");
  EXPECT_EQ(resolved("ttft.p99"), "ttft_s.p99");
  EXPECT_EQ(resolved("kv_footprint"), "kv_footprint_bytes");
  EXPECT_EQ(resolved("energy"), "energy_j_per_token");
  EXPECT_EQ(resolved("max_batch"), "max_batch");
}

// Every short form of the list means its metric.
TEST(MetricNames, HaveShortFormsThatMeanThem) {
  EXPECT_EQ(short_metric("ttft_s.{mean,p50,p90,p95,p99}"), "ttft.{mean,p50,p90,p95,p99}");
  EXPECT_EQ(short_metric("tpot_s"), "tpot");
  EXPECT_EQ(short_metric("max_batch"), "");
  for (const MetricDefinition& metric : kMetrics) {
    const std::string brief = short_metric(std::string(metric.name));
    if (brief.empty() || brief.find('{') != std::string::npos) continue;
    EXPECT_EQ(resolved(brief), metric.name);
  }
}

TEST(MetricNames, SayWhatCouldBeMeant) {
  EXPECT_EQ(resolved("throughputt"),
            "there is no metric 'throughputt' (did you mean 'throughput'?)");
  EXPECT_EQ(resolved("e2e_latency"),
            "'e2e_latency' has several statistics (one of: e2e_latency_s.mean, e2e_latency_s.p50, "
            "e2e_latency_s.p90, e2e_latency_s.p95, e2e_latency_s.p99)");
  EXPECT_EQ(resolved("footprint"), "there is no metric 'footprint' (did you mean 'kv_footprint'?)");
}

}  // namespace
}  // namespace tiersim::metric_names_test
