// Replicas that share nothing, one beside the other: the record is the same on any number of
// threads, and that of one engine for all replicas, which a listener sees.
#include "sim/serving/apart.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/serving/listener.hpp"
#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::serving_apart_test {
namespace {

ServingConfig config_of(const std::string& path, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / path,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  auto config = read<ServingConfig>(document, "serving", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
  return config;
}

// Passes everything on, and expects it in order of time.
class Watcher final : public ServingListener {
 public:
  void begin(const ServedRun&, ServingObserver& next) override { next_ = &next; }
  void on_flow(std::size_t, ChannelId, std::int64_t) override {}
  void finish(SimTime now) override { see(now); }
  void on_arrival(SimTime now) override { see(now), next_->on_arrival(now); }
  void on_iteration(const IterationSample& s) override { see(s.end), next_->on_iteration(s); }
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override {
    see(now), next_->on_gap(now, gap, tokens);
  }
  void on_finish(const RequestOutcome& o) override { see(o.finished), next_->on_finish(o); }

 private:
  void see(SimTime now) {
    EXPECT_GE(now, now_);
    now_ = now;
  }
  ServingObserver* next_ = nullptr;
  SimTime now_{};
};

std::string text_of(const Expected<RunRecord>& record) {
  return record ? to_json(*record) : record.error();
}

// The first line that differs, since a record is long.
::testing::AssertionResult same(const std::string& a, const std::string& b) {
  if (a == b) return ::testing::AssertionSuccess();
  std::istringstream left(a);
  std::istringstream right(b);
  for (std::string x, y; std::getline(left, x) && std::getline(right, y);)
    if (x != y) return ::testing::AssertionFailure() << x << "\n" << y;
  return ::testing::AssertionFailure() << a.size() << " and " << b.size() << " characters";
}

// More than one lot of requests, and replicas that 3 and 8 threads do not share evenly.
const std::vector<std::string> kTen{"system.gpus.count=10", "server.routing=round_robin"};
const std::vector<std::string> kMany{"workload.requests=600", "workload.output.tokens=30",
                                     "workload.output.max=200"};
const char* const kPoisson = "serving/llama3_8b_h100_poisson.yaml";

std::vector<std::string> all_of(const std::vector<std::vector<std::string>>& parts) {
  std::vector<std::string> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

struct Server {
  const char* name;
  const char* path;
  std::vector<std::string> set;
};

const std::vector<Server> kApart{
    {"poisson", kPoisson, all_of({kMany, {"workload.arrivals.requests_per_s=200"}})},
    {"whole_run", kPoisson,
     all_of({kMany, {"workload.arrivals.requests_per_s=2000", "measure.warm_up=0"}})},
    {"at_once", "serving/llama2_7b_h100_continuous.yaml", {"workload.requests=300"}},
    {"fixed", kPoisson,
     all_of({kMany,
             {"workload.arrivals={process: fixed_rate, requests_per_s: 100}",
              "server.base=servers/no_host.yaml"}})},
    {"preempted", kPoisson,
     all_of({kMany, {"workload.arrivals.requests_per_s=2000", "placement.near_share=0.25"}})},
    {"pipeline", kPoisson,
     all_of({kMany,
             {"parallel.pipeline=2", "system={base: systems/h100_nvlink.yaml}", "placement.far=hbm",
              "workload.arrivals.requests_per_s=100"}})},
    {"static", "serving/llama2_7b_h100_static.yaml", {"workload.requests=300"}},
    {"prefixes", "serving/llama2_7b_rtx4090_prefix_cache.yaml", {"server.prefix_cache.tiers=[]"}},
    // The replicas share a memory, and so are simulated together after all.
    {"swap", "serving/llama2_7b_h100_swap.yaml", {"workload.output.max=600"}},
    {"maple", "serving/llama3_8b_h200_maple.yaml", {"workload.output.tokens=8"}}};

class ServingApart : public ::testing::TestWithParam<Server> {
 protected:
  static ServingConfig config() {
    return config_of(GetParam().path, all_of({kTen, GetParam().set}));
  }
};

TEST_P(ServingApart, TheRecordIsTheSameOnAnyNumberOfThreads) {
  const ServingConfig c = config();
  ASSERT_TRUE(may_be_apart(c));
  Watcher watcher;
  const std::string together = text_of(serve(c, &watcher));
  for (const int threads : {1, 2, 3, 8})
    EXPECT_TRUE(same(text_of(serve(c, nullptr, threads)), together)) << threads;
}

INSTANTIATE_TEST_SUITE_P(Servers, ServingApart, ::testing::ValuesIn(testing::some_of(kApart)),
                         [](const auto& instance) { return instance.param.name; });

// A router that asks how full the replicas are needs all of them at that instant, and so do clients
// that wait for an answer.
TEST(ServingApart, NeedsARouterAndClientsThatAskNothing) {
  const auto may = [&](const char* path, const std::string& option) {
    return may_be_apart(config_of(path, all_of({kTen, {option}})));
  };
  EXPECT_TRUE(may(kPoisson, "seed=1"));
  for (const char* routing : {"fewest_requests", "fewest_tokens"})
    EXPECT_FALSE(may(kPoisson, std::string("server.routing=") + routing));
  EXPECT_FALSE(may("serving/llama2_7b_rtx4090_prefix_cache.yaml", "server.routing=prefix"));
  EXPECT_FALSE(may("serving/llama3_8b_h100_closed_loop.yaml", "seed=1"));
  EXPECT_FALSE(may(kPoisson, "workload.arrivals.max_in_flight=3"));
  EXPECT_FALSE(may(kPoisson, "server.host.workers=9"));
  EXPECT_TRUE(may(kPoisson, "server.host.workers=10"));
  EXPECT_FALSE(may(kPoisson, "system.gpus.count=1"));
}

// The first one in order of arrival, on any number of threads.
TEST(ServingApart, NamesTheRequestThatFitsNowhere) {
  const ServingConfig c =
      config_of(kPoisson, all_of({kTen,
                                  {"workload.requests=600", "placement.near_share=0.4",
                                   "workload.input.tokens=40000", "workload.input.max=600000"}}));
  Watcher watcher;
  const auto together = serve(c, &watcher);
  ASSERT_FALSE(together);
  for (const int threads : {1, 3}) {
    const auto apart = serve(c, nullptr, threads);
    ASSERT_FALSE(apart);
    EXPECT_EQ(apart.error(), together.error());
  }
}

}  // namespace
}  // namespace tiersim::serving_apart_test
