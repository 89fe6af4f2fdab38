#pragma once
// Timing parameters of a DRAM by their data-sheet names, and the whole clocks of a controller. The
// defaults are those of an HBM3 part at 6.4 Gb/s a pin.
#include <cstdint>
#include <optional>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Minimum times between two commands. `t_x_y` is between X and Y; see the data sheets' tXY.
struct DramTimings {
  Sourced<Duration> t_ck;     ///< clock of the commands; every other time is rounded up to it
  Sourced<Duration> t_burst;  ///< one atom on the data bus
  Sourced<Duration> t_cl;     ///< RD to its first data
  Sourced<Duration> t_cwl;    ///< WR to its first data
  Sourced<Duration> t_rcd;    ///< ACT to RD or WR of the bank
  std::optional<Sourced<Duration>> t_rcd_wr;  ///< ACT to WR where that is another time
  Sourced<Duration> t_rp;                     ///< PRE to ACT of the bank
  Sourced<Duration> t_ras;                    ///< ACT to PRE of the bank
  Sourced<Duration> t_rc;                     ///< ACT to ACT of the bank
  Sourced<Duration> t_rtp;                    ///< RD to PRE of the bank
  Sourced<Duration> t_wr;                     ///< end of write data to PRE of the bank
  Sourced<Duration> t_ccd_s;                  ///< RD to RD and WR to WR, other bank group
  Sourced<Duration> t_ccd_l;                  ///< RD to RD, same bank group
  Sourced<Duration> t_ccd_l_wr;               ///< WR to WR, same bank group
  Sourced<Duration> t_rrd_s;                  ///< ACT to ACT of a rank, other bank group
  Sourced<Duration> t_rrd_l;                  ///< ACT to ACT, same bank group
  Sourced<Duration> t_faw;  ///< window of a rank in which at most four ACT may start
  /// ACT to ACT of a pseudo channel by the bus of row commands: the time of an ACT and a PRE, times
  /// the pseudo channels that share the bus.
  Sourced<Duration> t_row;
  Sourced<Duration> t_wtr_s;   ///< end of write data to RD of the rank
  Sourced<Duration> t_wtr_l;   ///< end of write data to RD of the bank group
  Sourced<Duration> t_gap;     ///< data bus idle between read data and write data
  Sourced<Duration> t_cs;      ///< data bus idle between two ranks
  Sourced<Duration> t_refi;    ///< mean time between all-bank refreshes of a rank
  Sourced<Duration> t_rfc;     ///< all-bank refresh
  Sourced<Duration> t_rfc_pb;  ///< refresh of one bank
  Sourced<Duration> t_rrefd;   ///< REFpb to ACT or REFpb of another bank

  DramTimings();
};

void describe(Fields& f, DramTimings& c);

/// The timings in whole clocks, rounded up. Tests remove a gate from a mutable copy.
struct DramClocks {
  std::int64_t period_ps = 1;
  std::int64_t burst, cl, cwl, rcd, rcd_wr, rp, ras, rc, rtp, wr;
  std::int64_t ccd_s, ccd_l, ccd_l_wr, rrd_s, rrd_l, faw, row, wtr_s, wtr_l, gap, cs;
  std::int64_t refi, rfc, rfc_pb, rrefd;

  explicit DramClocks(const DramTimings& timings);
  /// RD to WR of a rank: the write's data follow the read's after the gap.
  std::int64_t rtw() const { return cl + burst + gap - cwl; }
  /// Latency of a single read whose bank has another row open.
  Duration row_latency() const { return Duration(period_ps * (rp + rcd + cl + burst)); }
};

}  // namespace tiersim
