#pragma once
// DRAMs for tests, with the timings of the parts in their names, rounded to clocks.
#include <array>

#include "hwmodels/packet/dram/dram_checker.hpp"
#include "hwmodels/packet/dram/dram_probe.hpp"

namespace tiersim::dram_test {

inline Sourced<Duration> clocks(std::int64_t count, std::int64_t period_ps) {
  return {.value = Duration(count * period_ps), .source = "test"};
}

/// HBM3 at 6.4 Gb/s with two pseudo channels of 32 banks: the default.
inline DramPacketConfig hbm3() {
  return {};
}

/// One module of DDR5-4800: two subchannels, eight bank groups of four, one or two ranks.
inline DramPacketConfig ddr5(int ranks) {
  DramPacketConfig c;
  constexpr std::int64_t kPeriod = 416;
  const auto n = [](std::int64_t count) { return clocks(count, kPeriod); };
  c.atom = {.value = Bytes::from_base(64), .source = "test"};
  DramTimings& t = c.timings;
  t.t_ck = n(1);
  t.t_burst = n(8);
  t.t_cl = n(34);
  t.t_cwl = n(32);
  t.t_rcd = n(34);
  t.t_rp = n(34);
  t.t_ras = n(77);
  t.t_rc = n(111);
  t.t_rtp = n(18);
  t.t_wr = n(72);
  t.t_ccd_s = n(8);
  t.t_ccd_l = n(12);
  t.t_ccd_l_wr = n(48);
  t.t_rrd_s = n(8);
  t.t_rrd_l = n(12);
  t.t_faw = n(48);
  t.t_wtr_s = n(6);
  t.t_wtr_l = n(24);
  t.t_gap = n(4);
  t.t_cs = n(2);
  t.t_rfc = n(710);
  t.t_rfc_pb = n(313);
  t.t_rrefd = n(72);
  c.address_map.pieces = {{DramField::column, 2},
                          {DramField::pseudo_channel, 1},
                          {DramField::bank_group, 3},
                          {DramField::column, 4},
                          {DramField::bank, 2}};
  if (ranks == 2) c.address_map.pieces.push_back({DramField::rank, 1});
  c.address_map.pieces.push_back({DramField::row, 16});
  return c;
}

inline DramShape shape_of(const DramPacketConfig& config) {
  return DramShape(*AddressMap::make(config.address_map));
}

/// Sum over the pseudo channels of a run; `clocks` may differ from the checker's timings.
inline DramReport checked_run(const DramPacketConfig& config, const DramClocks& clocks,
                              const DramProbe& probe) {
  std::vector<DramTrace> traces;
  run_dram_probe(config, clocks, probe, traces);
  const DramChecker checker(config.timings, shape_of(config), config.scheduler.refresh);
  DramReport sum;
  for (const DramTrace& trace : traces) {
    const DramReport report = checker.check(trace);
    sum.commands += report.commands;
    sum.violations += report.violations;
    sum.first.insert(sum.first.end(), report.first.begin(), report.first.end());
  }
  return sum;
}

inline std::string listed(const DramReport& report) {
  std::string text;
  for (const DramViolation& v : report.first)
    text += std::string(v.rule) + " bank " + std::to_string(v.command.bank) + " at " +
            std::to_string(v.command.at_ps) + " ps, " + std::to_string(v.missing_ps) +
            " ps too early\n";
  return text;
}

}  // namespace tiersim::dram_test
