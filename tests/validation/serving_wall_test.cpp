// The latency wall: while a pool of blocks has room for all users, they wait for each other's
// prompts only. With more users than fit, the others wait for a place, and the running ones are not
// affected. TPOT thus stays constant, and TTFT grows with each user by the time that the server
// needs for one more:
//
//   TTFT = (users - running) / rate + TTFT at the wall                    (Little's law)
//   0.88 * positions / (input + output) <= running <= positions / (input + output / 2)
//
// since a sequence of a stationary mix is half way through its answer on average, and admission
// leaves 0.12 of the pool for sequences that grow by up to a tenth, so that none is preempted. The
// time of an iteration grows at most in proportion to its sequences, so TPOT stays within the ratio
// of these two ends.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::serving_wall_test {
namespace {

constexpr double kInput = 5000;
constexpr double kOutput = 500;

RunRecord serve_users(std::int64_t users) {
  Diagnostics diagnostics;
  const Document document =
      load_document(testing::configs() / "serving/validation/nim_llama33_70b_h100x2.yaml",
                    {.overrides = {fmt::format("workload.arrivals.users={}", users),
                                   fmt::format("workload.requests={}", 8 * users),
                                   "measure.warm_up=0.5", "server.kv.watermark=0.12"},
                     .config_root = testing::configs(),
                     .importers = make_all_importers()},
                    diagnostics);
  const auto config = read<ServingConfig>(document, "serving", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
  auto record = serve(config);
  EXPECT_TRUE(record) << (record ? "" : record.error());
  return *std::move(record);
}

double metric(const RunRecord& record, const char* name) {
  return record.metrics.at(name).value;
}

TEST(KvCapacityWall, IsAtTheUsersThatThePoolHasRoomFor) {
  const auto positions = static_cast<double>(serve_users(1).serving->capacity.positions);
  const double least = 0.88 * positions / (kInput + kOutput);
  const double most = positions / (kInput + kOutput / 2);
  const auto users_at = [&](double walls) { return static_cast<std::int64_t>(walls * least); };
  const double prompt = metric(serve_users(1), "ttft_s.mean");

  // Room for all: a user waits for the prompts of others that came within the same few iterations.
  for (const double walls : {0.5, 0.75, 1.0})
    EXPECT_LT(metric(serve_users(users_at(walls)), "ttft_s.mean"), 10 * prompt) << walls;
  const double tpot = metric(serve_users(users_at(1)), "tpot_s.mean");
  for (const double walls : {1.25, 1.5, 2.0, 3.0}) {
    const RunRecord record = serve_users(users_at(walls));
    const auto users = static_cast<double>(users_at(walls));
    const double rate = metric(record, "requests_per_s");
    EXPECT_EQ(metric(record, "preemptions"), 0) << walls;
    EXPECT_GT(metric(record, "ttft_s.mean"), (users - most) / rate) << walls;
    EXPECT_LT(metric(record, "ttft_s.mean"), (users - least) / rate + 10 * prompt) << walls;
    EXPECT_NEAR(metric(record, "tpot_s.mean") / tpot, 1, most / least - 1) << walls;
  }
}

}  // namespace
}  // namespace tiersim::serving_wall_test
