#include "hwmodels/packet/dram/dram_timings.hpp"

namespace tiersim {
namespace {

constexpr const char* kStandard = "JESD238 (HBM3), as HBM3_6400Mbps of Ramulator 2.1 has it";

Sourced<Duration> specified(std::int64_t ps) {
  return {.value = Duration(ps), .number_class = NumberClass::specification, .source = kStandard};
}
// Timings that vendors do not publish, as a cycle-level simulator sets them.
Sourced<Duration> assumed(std::int64_t ps) {
  return {.value = Duration(ps),
          .number_class = NumberClass::assumed,
          .source = "HBM3_6400Mbps of Ramulator 2.1; vendors do not publish it"};
}

}  // namespace

DramTimings::DramTimings()
    : t_ck(specified(625)),
      t_burst(specified(1250)),
      t_cl(assumed(12500)),
      t_cwl(assumed(6250)),
      t_rcd(assumed(19400)),
      t_rp(assumed(16250)),
      t_ras(assumed(28000)),
      t_rc(assumed(45000)),
      t_rtp(assumed(5625)),
      t_wr(assumed(20625)),
      t_ccd_s(specified(1250)),
      t_ccd_l(specified(2500)),
      t_ccd_l_wr(specified(2500)),
      t_rrd_s(assumed(2500)),
      t_rrd_l(assumed(2500)),
      t_faw(assumed(15000)),
      t_row({.value = Duration(0), .source = "faster than tFAW at this clock"}),
      t_wtr_s(assumed(4375)),
      t_wtr_l(assumed(6250)),
      t_gap(
          {.value = Duration(1250), .source = "two clocks between preambles, order of magnitude"}),
      t_cs({.value = Duration(0), .source = "one rank, so no switch"}),
      t_refi(specified(3'900'000)),
      t_rfc(specified(350'000)),
      t_rfc_pb(assumed(200'000)),
      t_rrefd(specified(8000)) {}

void describe(Fields& f, DramTimings& c) {
  f.doc("Least times between two DRAM commands, by the names of the data sheets.");
  const Limits positive_time = in_range(Duration(1), std::chrono::milliseconds(1));
  const Limits any_time = in_range(Duration(0), std::chrono::milliseconds(1));
  f.optional("t_ck", c.t_ck, "Clock of the commands; the other times are rounded up to it.",
             in_range(Duration(10), std::chrono::nanoseconds(100)));
  f.optional("t_burst", c.t_burst, "One atom on the data bus.", positive_time);
  f.optional("t_cl", c.t_cl, "RD to its first data.", positive_time);
  f.optional("t_cwl", c.t_cwl, "WR to its first data.", positive_time);
  f.optional("t_rcd", c.t_rcd, "ACT to RD or WR of the bank.", any_time);
  f.optional("t_rcd_wr", c.t_rcd_wr, "ACT to WR of the bank; t_rcd where absent.", any_time);
  f.optional("t_rp", c.t_rp, "PRE to ACT of the bank.", any_time);
  f.optional("t_ras", c.t_ras, "ACT to PRE of the bank.", any_time);
  f.optional("t_rc", c.t_rc, "ACT to ACT of the bank.", any_time);
  f.optional("t_rtp", c.t_rtp, "RD to PRE of the bank.", any_time);
  f.optional("t_wr", c.t_wr, "End of write data to PRE of the bank.", any_time);
  f.optional("t_ccd_s", c.t_ccd_s, "RD to RD or WR to WR, other bank group.", positive_time);
  f.optional("t_ccd_l", c.t_ccd_l, "RD to RD, same bank group.", positive_time);
  f.optional("t_ccd_l_wr", c.t_ccd_l_wr, "WR to WR, same bank group.", positive_time);
  f.optional("t_rrd_s", c.t_rrd_s, "ACT to ACT of a rank, other bank group.", any_time);
  f.optional("t_rrd_l", c.t_rrd_l, "ACT to ACT, same bank group.", any_time);
  f.optional("t_faw", c.t_faw, "Time of a rank in which at most four ACT may start.", any_time);
  f.optional("t_row", c.t_row,
             "ACT to ACT by the bus of row commands: ACT and PRE of all that share it.", any_time);
  f.optional("t_wtr_s", c.t_wtr_s, "End of write data to RD of the rank.", any_time);
  f.optional("t_wtr_l", c.t_wtr_l, "End of write data to RD of the bank group.", any_time);
  f.optional("t_gap", c.t_gap, "Data bus idle between read data and write data.", any_time);
  f.optional("t_cs", c.t_cs, "Data bus idle between two ranks.", any_time);
  f.optional("t_refi", c.t_refi, "Mean time between all-bank refreshes of a rank.",
             in_range(std::chrono::nanoseconds(100), std::chrono::milliseconds(1)));
  f.optional("t_rfc", c.t_rfc, "All-bank refresh.", any_time);
  f.optional("t_rfc_pb", c.t_rfc_pb, "Refresh of one bank.", any_time);
  f.optional("t_rrefd", c.t_rrefd, "REFpb to ACT or REFpb of another bank.", any_time);
  f.check(c.t_rfc.value + c.t_ras.value < c.t_refi.value, "t_rfc",
          "leaves no time between refreshes", "t_refi must exceed t_rfc + t_ras");
}

DramClocks::DramClocks(const DramTimings& t) : period_ps(t.t_ck.value.count()) {
  const auto clocks = [this](const Sourced<Duration>& time) {
    return (time.value.count() + period_ps - 1) / period_ps;
  };
  burst = clocks(t.t_burst);
  cl = clocks(t.t_cl);
  cwl = clocks(t.t_cwl);
  rcd = clocks(t.t_rcd);
  rcd_wr = t.t_rcd_wr ? clocks(*t.t_rcd_wr) : rcd;
  rp = clocks(t.t_rp);
  ras = clocks(t.t_ras);
  rc = clocks(t.t_rc);
  rtp = clocks(t.t_rtp);
  wr = clocks(t.t_wr);
  ccd_s = clocks(t.t_ccd_s);
  ccd_l = clocks(t.t_ccd_l);
  ccd_l_wr = clocks(t.t_ccd_l_wr);
  rrd_s = clocks(t.t_rrd_s);
  rrd_l = clocks(t.t_rrd_l);
  faw = clocks(t.t_faw);
  row = clocks(t.t_row);
  wtr_s = clocks(t.t_wtr_s);
  wtr_l = clocks(t.t_wtr_l);
  gap = clocks(t.t_gap);
  cs = clocks(t.t_cs);
  refi = clocks(t.t_refi);
  rfc = clocks(t.t_rfc);
  rfc_pb = clocks(t.t_rfc_pb);
  rrefd = clocks(t.t_rrefd);
}

}  // namespace tiersim
