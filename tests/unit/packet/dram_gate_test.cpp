// Every gate of a DRAM alone: all other least times are one clock, this one is a thousand. The
// checker accepts the second command at the least distance and refuses it 1 ps earlier; the
// scheduler sends it exactly there.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_gate_test {
namespace {

using namespace dram_test;
using Kind = DramCommandKind;

constexpr std::int64_t kPeriod = 1000;
constexpr std::int64_t kGate = 1000;  // clocks

/// Two ranks of two groups of two banks; bank = rank * 4 + group * 2 + bank of the group.
DramPacketConfig one_clock_gates() {
  DramPacketConfig c;
  c.address_map.pieces = {
      {DramField::bank, 1}, {DramField::bank_group, 1}, {DramField::rank, 1}, {DramField::row, 8}};
  DramTimings& t = c.timings;
  for (auto* each : {&t.t_ck,       &t.t_burst, &t.t_cl,    &t.t_cwl,    &t.t_rcd,   &t.t_rp,
                     &t.t_ras,      &t.t_rc,    &t.t_rtp,   &t.t_wr,     &t.t_ccd_s, &t.t_ccd_l,
                     &t.t_ccd_l_wr, &t.t_rrd_s, &t.t_rrd_l, &t.t_faw,    &t.t_wtr_s, &t.t_wtr_l,
                     &t.t_gap,      &t.t_cs,    &t.t_rfc,   &t.t_rfc_pb, &t.t_rrefd, &t.t_row})
    *each = clocks(1, kPeriod);
  t.t_refi = clocks(1'000'000, kPeriod);
  c.scheduler.refresh = DramRefresh::none;
  c.scheduler.write_high = 1;
  c.scheduler.write_low = 0;
  c.scheduler.max_age = std::chrono::milliseconds(1);
  return c;
}

DramTrace trace_of(const DramPacketConfig& config, const std::vector<DramAtom>& atoms) {
  DramTrace trace;
  PseudoChannel channel(DramClocks(config.timings), shape_of(config), config.scheduler, &trace);
  std::vector<DramDone> done;
  for (const DramAtom& atom : atoms) {
    channel.run_until(atom.arrival, done);
    channel.push(atom, done);
  }
  channel.run_until(PseudoChannel::kNever, done);
  EXPECT_EQ(channel.in_flight(), 0);
  EXPECT_EQ(done.size(), atoms.size());
  return trace;
}

struct Gate {
  std::string_view rule;
  Sourced<Duration> DramTimings::*time;
  std::vector<DramAtom> atoms;  ///< the atoms that make the gate bind
  DramRefresh refresh = DramRefresh::none;
};

DramAtom read(std::uint16_t bank, std::uint32_t row = 0, std::int64_t arrival = 0) {
  return {.arrival = arrival, .row = row, .bank = bank};
}
DramAtom write(std::uint16_t bank, std::uint32_t row = 0, std::int64_t arrival = 0) {
  return {.arrival = arrival, .row = row, .bank = bank, .write = true};
}

// Refresh is due at 1,000,000 clocks; the read arrives then.
constexpr std::int64_t kDue = 1'000'000;

const std::vector<Gate>& gates() {
  using T = DramTimings;
  static const std::vector<Gate> all{
      {"tRCD", &T::t_rcd, {read(0)}},
      {"tRCD", &T::t_rcd, {write(0)}},
      {"tRAS", &T::t_ras, {read(0, 0), read(0, 1)}},
      {"tRC", &T::t_rc, {read(0, 0), read(0, 1)}},
      {"tRP", &T::t_rp, {read(0, 0), read(0, 1)}},
      {"tRTP", &T::t_rtp, {read(0, 0), read(0, 1)}},
      {"tWR", &T::t_wr, {write(0, 0), write(0, 1)}},
      {"tCCD_L", &T::t_ccd_l, {read(0), read(1)}},
      {"tCCD_L_WR", &T::t_ccd_l_wr, {write(0), write(1)}},
      {"tCCD_S", &T::t_ccd_s, {read(0), read(2)}},
      {"tCCD_S", &T::t_ccd_s, {write(0), write(2)}},
      {"tWTR_L", &T::t_wtr_l, {write(0), read(1, 0, 10)}},
      {"tWTR_S", &T::t_wtr_s, {write(0), read(2, 0, 10)}},
      {"tRRD_L", &T::t_rrd_l, {read(0), read(1)}},
      {"tRRD_S", &T::t_rrd_s, {read(0), read(2)}},
      {"tROW", &T::t_row, {read(0), read(4)}},
      {"tFAW", &T::t_faw, {read(0), read(1), read(2), read(3), read(0, 1, 20)}},
      {"tRFC", &T::t_rfc, {read(0), read(0, 0, kDue)}, DramRefresh::all_bank},
      {"tRFC_pb", &T::t_rfc_pb, {read(0), read(0, 0, kDue / 4)}, DramRefresh::per_bank},
      {"tRREFD", &T::t_rrefd, {read(0), read(2, 0, kDue / 4)}, DramRefresh::per_bank},
  };
  return all;
}

DramPacketConfig config_of(const Gate& gate) {
  DramPacketConfig config = one_clock_gates();
  config.timings.*(gate.time) = clocks(kGate, kPeriod);
  config.scheduler.refresh = gate.refresh;
  return config;
}

// The commands of the trace, by time.
DramTrace sorted(DramTrace trace) {
  std::stable_sort(trace.begin(), trace.end(),
                   [](const DramCommand& a, const DramCommand& b) { return a.at_ps < b.at_ps; });
  return trace;
}

std::size_t place(DramScope scope, std::uint16_t bank) {
  switch (scope) {
    case DramScope::bank:
      return bank;
    case DramScope::group:
      return bank / 2U;
    case DramScope::rank:
      return bank / 4U;
    case DramScope::channel:
      break;
  }
  return 0;
}

// The first command at the least distance of the rule from its predecessor; past the end where
// there is none.
std::size_t bound_command(const DramTrace& trace, const DramRule& rule) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind != rule.after) continue;
    int count = 0;
    for (std::size_t j = i; j-- > 0;) {
      const bool same = place(rule.scope, trace[j].bank) == place(rule.scope, trace[i].bank);
      if (trace[j].kind != rule.before || !same || ++count < rule.count) continue;
      if (trace[i].at_ps - trace[j].at_ps == rule.least_ps) return i;
      break;
    }
  }
  return trace.size();
}

// ACT to RD takes 20 clocks, ACT to WR 5.
TEST(DramGates, AWriteMayGoSoonerAfterItsActThanARead) {
  DramPacketConfig config = one_clock_gates();
  config.timings.t_rcd = clocks(20, kPeriod);
  const auto column_after_act = [&](const DramAtom& atom) {
    const DramTrace trace = sorted(trace_of(config, {atom}));
    EXPECT_EQ(trace.size(), 2U);
    return trace.back().at_ps - trace.front().at_ps;
  };
  EXPECT_EQ(column_after_act(write(0)), 20 * kPeriod);
  config.timings.t_rcd_wr = clocks(5, kPeriod);
  EXPECT_EQ(column_after_act(write(0)), 5 * kPeriod);
  EXPECT_EQ(column_after_act(read(0)), 20 * kPeriod);
}

TEST(DramGates, AreLegalAtTheirTimeAndIllegalAPicosecondBefore) {
  for (const Gate& gate : gates()) {
    const DramPacketConfig config = config_of(gate);
    const DramTrace trace = sorted(trace_of(config, gate.atoms));
    const DramChecker checker(config.timings, shape_of(config), gate.refresh);
    ASSERT_EQ(checker.check(trace).violations, 0) << gate.rule << '\n'
                                                  << listed(checker.check(trace));
    bool bound = false;
    for (const DramRule& rule : dram_rules(config.timings)) {
      if (rule.name != gate.rule || rule.least_ps < kGate * kPeriod) continue;
      const std::size_t i = bound_command(trace, rule);
      if (i == trace.size()) continue;
      bound = true;
      // A PRE comes as late as its ACT allows, so it moves with it.
      DramTrace earlier = trace;
      --earlier[i].at_ps;
      const bool reopens = i > 0 && rule.name != "tRP" && trace[i].kind == Kind::activate &&
                           trace[i - 1].kind == Kind::precharge;
      if (reopens) --earlier[i - 1].at_ps;
      const DramReport report = checker.check(earlier);
      ASSERT_EQ(report.violations, 1) << gate.rule << '\n' << listed(report);
      EXPECT_EQ(report.first[0].rule, gate.rule);
      EXPECT_EQ(report.first[0].missing_ps, 1);
    }
    EXPECT_TRUE(bound) << gate.rule << " does not bind";
  }
}

// RD data end at 2 clocks after the command; WR data begin one clock after theirs.
TEST(DramGates, WriteDataFollowReadDataAfterTheGap) {
  DramPacketConfig config = one_clock_gates();
  config.timings.t_gap = clocks(kGate, kPeriod);
  const DramTrace trace = sorted(trace_of(config, {read(0), read(2), write(0, 0, 1000)}));
  const DramChecker checker(config.timings, shape_of(config), DramRefresh::none);
  ASSERT_EQ(checker.check(trace).violations, 0);
  DramTrace late = sorted(trace_of(config, {read(0), write(0, 0, 2)}));
  ASSERT_EQ(late.back().kind, Kind::write);
  EXPECT_EQ(late.back().at_ps - late[1].at_ps, (1 + 1 + kGate - 1) * kPeriod);
  --late.back().at_ps;
  const DramReport report = checker.check(late);
  ASSERT_EQ(report.violations, 1);
  EXPECT_EQ(report.first[0].rule, "tRTW");
}

TEST(DramGates, RanksLeaveTheBusIdleBetweenThem) {
  DramPacketConfig config = one_clock_gates();
  config.timings.t_cs = clocks(kGate, kPeriod);
  const DramChecker checker(config.timings, shape_of(config), DramRefresh::none);
  for (const bool writes : {false, true}) {
    DramTrace trace = sorted(
        trace_of(config, writes ? std::vector{write(0), write(4)} : std::vector{read(0), read(4)}));
    ASSERT_EQ(checker.check(trace).violations, 0);
    EXPECT_EQ(trace[3].at_ps - trace[2].at_ps, (1 + kGate) * kPeriod);
    --trace[3].at_ps;
    const DramReport report = checker.check(trace);
    ASSERT_EQ(report.violations, 1);
    EXPECT_EQ(report.first[0].rule, "tCS");
  }
}

TEST(DramGates, BurstsDoNotOverlap) {
  DramPacketConfig config = one_clock_gates();
  config.timings.t_burst = clocks(kGate, kPeriod);
  DramTrace trace = sorted(trace_of(config, {read(0), read(2)}));
  EXPECT_EQ(trace[3].at_ps - trace[2].at_ps, kGate * kPeriod);
  const DramChecker checker(config.timings, shape_of(config), DramRefresh::none);
  ASSERT_EQ(checker.check(trace).violations, 0);
  --trace[3].at_ps;
  ASSERT_EQ(checker.check(trace).violations, 1);
  EXPECT_EQ(checker.check(trace).first[0].rule, "data bus");
}

TEST(DramChecker, KnowsWhichRowIsOpen) {
  const DramPacketConfig config = one_clock_gates();
  const DramChecker checker(config.timings, shape_of(config), DramRefresh::none);
  const auto first = [&](const DramTrace& trace) {
    const DramReport report = checker.check(trace);
    return report.first.empty() ? std::string_view("none") : report.first[0].rule;
  };
  EXPECT_EQ(first({{0, 3, 0, Kind::activate}, {9000, 3, 0, Kind::read}}), "none");
  EXPECT_EQ(first({{0, 3, 0, Kind::activate}, {9000, 4, 0, Kind::read}}),
            "RD or WR of another row");
  EXPECT_EQ(first({{0, 3, 0, Kind::activate}, {9000, 4, 0, Kind::activate}}),
            "ACT of an open bank");
  EXPECT_EQ(first({{0, 0, 0, Kind::precharge}}), "PRE of a closed bank");
  EXPECT_EQ(first({{0, 3, 0, Kind::activate}, {9000, 0, 0, Kind::refresh}}),
            "REF with an open bank");
  EXPECT_EQ(first({{0, 3, 0, Kind::activate}, {9000, 0, 0, Kind::refresh_bank}}),
            "REFpb of an open bank");
  EXPECT_EQ(first({{9'001'000'001, 3, 0, Kind::activate}}), "none");  // none is asked for
}

}  // namespace
}  // namespace tiersim::dram_gate_test
