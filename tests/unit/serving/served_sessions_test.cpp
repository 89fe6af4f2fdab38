// The sessions of a run, by hand.
#include <gtest/gtest.h>

#include "sim/serving/served_sessions.hpp"
#include "sim/serving/statistics.hpp"

namespace tiersim::served_sessions_test {
namespace {

constexpr SimTime at(double seconds) {
  return SimTime(Duration(static_cast<std::int64_t>(seconds * 1e12)));
}

double value(const RunRecord& record, const std::string& metric) {
  const auto it = record.metrics.find(metric);
  if (it == record.metrics.end()) {
    ADD_FAILURE() << metric << " is missing";
    return 0;
  }
  return it->second.value;
}

// Session 0: requests from 0 to 2 s, and from 5 to 8 s beside a sub-agent's from 6 to 9 s; the user
// of session 1 leaves after its one request, from 1 to 4 s. At the server for 2 + 4 = 6 s and 3 s.
RunRecord two_sessions(double warm_up, double slo_s) {
  ServingConfig c;
  c.workload.sessions = SessionConfig{.count = 2};
  c.workload.output = LengthConfig{.tokens = 1};
  c.workload.sessions->turns.count = 2;
  c.workload.sessions->first_prompt.tokens = 1;
  c.workload.sessions->message = LengthConfig{.tokens = 1};
  c.measure.warm_up = warm_up;
  c.measure.slo_session = Duration(static_cast<std::int64_t>(slo_s * 1e12));
  ServingStatistics statistics(c, {.blocks = 10});
  const auto finish = [&](std::int64_t id, double arrival, double end, SessionPlace place) {
    statistics.on_finish({.id = id,
                          .arrival = at(arrival),
                          .started = at(arrival),
                          .first_token = at(end),
                          .finished = at(end),
                          .input_tokens = 10,
                          .output_tokens = 1,
                          .session = place});
  };
  statistics.on_session(at(0));
  statistics.on_arrival(at(0));
  statistics.on_session(at(1));
  statistics.on_arrival(at(1));
  finish(0, 0, 2, {.session = 0});
  finish(1, 1, 4, {.session = 1, .end = SessionEnd::abandoned});
  statistics.on_arrival(at(5));
  statistics.on_arrival(at(6));
  finish(2, 5, 8, {.session = 0, .turn = 1, .end = SessionEnd::done});
  finish(3, 6, 9, {.session = 0, .agent = 1});
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  return r;
}

TEST(ServedSessions, ASessionLastsFromItsFirstRequestToItsLastToken) {
  const RunRecord r = two_sessions(0, 5);
  EXPECT_DOUBLE_EQ(value(r, "session_s.mean"), 6);  // 9 and 3
  EXPECT_DOUBLE_EQ(value(r, "session_s.p99"), 9);
  EXPECT_DOUBLE_EQ(value(r, "session_busy_s.mean"), 4.5);  // 6 and 3
  EXPECT_DOUBLE_EQ(value(r, "requests_per_session.mean"), 2);
  EXPECT_DOUBLE_EQ(value(r, "session_abandonment"), 0.5);
  EXPECT_DOUBLE_EQ(value(r, "session_context_full"), 0);
  EXPECT_DOUBLE_EQ(value(r, "sessions_per_s"), 2.0 / 9);
  EXPECT_DOUBLE_EQ(value(r, "live_sessions.mean"), 12.0 / 9);
  EXPECT_DOUBLE_EQ(value(r, "live_sessions.max"), 2);
  // One takes longer than 5 s, and the user of the other one left.
  EXPECT_DOUBLE_EQ(value(r, "session_slo_attainment"), 0);
  EXPECT_DOUBLE_EQ(value(two_sessions(0, 6), "session_slo_attainment"), 0.5);
  EXPECT_DOUBLE_EQ(value(two_sessions(0, 6), "goodput_sessions_per_s"), 1.0 / 9);
}

// One request of four is warm-up, so that only the second session counts, which begins at 1 s. The
// window begins with it, so it ends with the last arrival.
TEST(ServedSessions, SessionsOfTheWarmUpDoNotCount) {
  const RunRecord r = two_sessions(0.25, 5);
  EXPECT_DOUBLE_EQ(value(r, "window_s"), 5);
  EXPECT_DOUBLE_EQ(value(r, "session_s.mean"), 3);
  EXPECT_DOUBLE_EQ(value(r, "session_abandonment"), 1);
}

// Two requests of four are warm-up, and no session begins with the other two.
TEST(ServedSessions, WithoutOneAfterTheWarmUpTheRecordSaysWhatItLacks) {
  const RunRecord r = two_sessions(0.5, 5);
  EXPECT_FALSE(r.metrics.contains("session_s.mean"));
  EXPECT_FALSE(r.metrics.contains("session_slo_attainment"));
  ASSERT_TRUE(r.serving && r.serving->unmeasured);
  EXPECT_EQ(r.serving->unmeasured->size(), 7U);
  EXPECT_EQ(r.serving->unmeasured->front(),
            "session_s: no session begins after the warm-up (a smaller measure.warm_up, or more "
            "sessions)");
  EXPECT_TRUE(r.serving->unmeasured->at(5).starts_with("session_slo_attainment: "));
  EXPECT_FALSE(two_sessions(0.25, 5).serving->unmeasured);
}

// 2, 3, 3 and 3 s for a token each: 1 / 3 s in the slow tail.
TEST(ServedSessions, InteractivityIsTheInverseOfASlowRequestsTimePerToken) {
  const RunRecord r = two_sessions(0, 5);
  EXPECT_DOUBLE_EQ(value(r, "e2e_normalized_interactivity.p90"), 1.0 / 3);
}

TEST(ServedSessions, AreOfWorkloadsWithSessionsAlone) {
  ServingConfig c;
  c.workload.requests = 1;
  ServingStatistics statistics(c, {.blocks = 10});
  statistics.on_arrival(at(0));
  statistics.on_finish(
      {.first_token = at(2), .finished = at(2), .input_tokens = 1, .output_tokens = 1});
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_FALSE(r.metrics.contains("session_s.mean"));
  EXPECT_DOUBLE_EQ(value(r, "e2e_normalized_interactivity.p90"), 0.5);
}

}  // namespace
}  // namespace tiersim::served_sessions_test
