#include "reports/summary/run_summary.hpp"

#include <gtest/gtest.h>

#include "reports/summary/sharing_text.hpp"

namespace tiersim::summary_test {
namespace {

// A step of 4 ms at 250 tokens/s, of one kernel family.
RunRecord record() {
  RunRecord r;
  r.name = "demo";
  r.run_id = "0123456789abcdef";
  r.bounded_by = "hbm.bus";
  r.metrics["step_time_s"] = {0.004, "s", NumberClass::fitted, {}};
  r.metrics["bound_s"] = {0.003, "s", NumberClass::fitted, {}};
  r.metrics["throughput_tokens_per_s"] = {250, "tokens/s", NumberClass::fitted, {}};
  r.metrics["max_batch"] = {8, "sequences", NumberClass::specification, {}};
  r.kernel_times = {{"attention", 0.004, NumberClass::fitted, "fitted", "h200/a: dense", {}}};
  return r;
}

RunRecord with_intervals() {
  RunRecord r = record();
  r.metrics["step_time_s"].ci95 = {0.0039, 0.005};
  r.metrics["bound_s"].ci95 = {0.0029, 0.0031};
  r.metrics["throughput_tokens_per_s"].ci95 = {200, 256.4};
  r.metrics["energy_j_per_token"] = {2, "J", NumberClass::assumed, Interval<double>{1.5, 3}};
  r.kernel_times[0].ci95 = {0.0039, 0.005};
  r.draws = {180, 1, 3};
  return r;
}

bool holds(const std::string& text, const std::string& line) {
  return text.find(line) != std::string::npos;
}

TEST(Summary, PrintsIntervalsBesideTheirValues) {
  const std::string text = summary_text(with_intervals());
  EXPECT_TRUE(
      holds(text,
            "step       4 ms  [3.9 ms, 5 ms]   bound 3 ms  [2.9 ms, 3.1 ms] (0.75 of the step), "
            "bounded by hbm.bus\n"))
      << text;
  EXPECT_TRUE(holds(text, "throughput 250 tokens/s  [200, 256.4]\n")) << text;
  EXPECT_TRUE(holds(text, "energy     2 J a token  [1.5, 3] (class assumed)\n")) << text;
  EXPECT_TRUE(
      holds(text, "[low, high]: 95 % interval, from 180 draws of the 3 numbers that have one\n"))
      << text;
}

// Only numbers of the times count: a price without an interval does not widen them.
TEST(Summary, SaysHowManyNumbersHaveNoInterval) {
  const auto last_line = [](const RunRecord& r) {
    const std::string text = summary_text(r);
    return text.substr(text.find("[low, high]"));
  };
  RunRecord r = with_intervals();
  const NumberRecord plain{.path = "a", .value = "1", .source = "s"};
  NumberRecord price = plain;
  price.in_times = false;
  NumberRecord known = plain;
  known.ci95 = {"0.9", "1.1"};
  r.numbers = {known, price};
  const std::string drawn =
      "[low, high]: 95 % interval, from 180 draws of the 3 numbers that have one";
  EXPECT_EQ(last_line(r), drawn + "\n");
  r.numbers.push_back(plain);
  EXPECT_EQ(last_line(r), drawn + "; 1 has none\n");
  r.numbers.push_back(plain);
  EXPECT_EQ(last_line(r), drawn + "; 2 have none\n");
}

TEST(Summary, SaysWhatEachKernelFamilyRestsOn) {
  EXPECT_TRUE(holds(summary_text(record()),
                    "family     time  basis   class   source\n"
                    "---------  ----  ------  ------  -------------\n"
                    "attention  4 ms  fitted  fitted  h200/a: dense\n"))
      << summary_text(record());
  EXPECT_TRUE(holds(summary_text(with_intervals()),
                    "family     time  95 %            basis   class   source\n"
                    "---------  ----  --------------  ------  ------  -------------\n"
                    "attention  4 ms  3.9 ms to 5 ms  fitted  fitted  h200/a: dense\n"))
      << summary_text(with_intervals());
}

TEST(Summary, SaysHowTheGpusShareAModel) {
  RunRecord r = record();
  r.gpus = 4;
  std::string text = summary_text(r);
  EXPECT_TRUE(holds(text, "gpus       4, each with a step of its own; numbers are of one GPU"));
  EXPECT_TRUE(holds(text, "throughput 250 tokens/s on all GPUs, 62.5 on each\n")) << text;
  EXPECT_TRUE(holds(text, "capacity   largest batch 8 at this context\n")) << text;
  r.device = {.gpus_per_replica = 4, .tensor = 4, .latent_slices = 2, .attention = "tensor"};
  text = summary_text(r);
  EXPECT_TRUE(holds(text,
                    "gpus       4, which share one model (tensor 4, 2 latent slices); batch "
                    "and step are of a replica, other numbers are of one GPU"))
      << text;
  EXPECT_TRUE(holds(text, "throughput 250 tokens/s on all GPUs\n")) << text;
  EXPECT_TRUE(holds(text, "capacity   largest batch 8 of a replica at this context\n")) << text;
  r.gpus = 20;
  text = summary_text(r);
  EXPECT_TRUE(holds(text,
                    "gpus       20, 5 replicas of 4, each with a step of its own (tensor 4, "
                    "2 latent slices); batch and step are of a replica"))
      << text;
  EXPECT_TRUE(holds(text, "throughput 250 tokens/s on all GPUs, 50 on each replica\n")) << text;
}

TEST(SharingText, NamesOnlyWhatIsShared) {
  EXPECT_EQ(sharing_text({}), "-");
  EXPECT_EQ(sharing_text({.tensor = 2, .attention = "data"}), "tensor 2, data attention");
  EXPECT_EQ(sharing_text({.tensor = 1, .pipeline = 3, .attention = "data"}), "pipeline 3");
}

TEST(Summary, WithoutIntervalsHasNoneOfTheirWords) {
  const std::string text = summary_text(record());
  EXPECT_TRUE(holds(text, "step       4 ms   bound 3 ms (0.75 of the step), bounded by hbm.bus\n"));
  EXPECT_FALSE(holds(text, "95 %")) << text;
  EXPECT_FALSE(holds(text, "[")) << text;
}

}  // namespace
}  // namespace tiersim::summary_test
