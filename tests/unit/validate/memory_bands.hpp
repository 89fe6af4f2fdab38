#pragma once
// How far the packet level of a DRAM may be from its flow level, by the numbers of its own file.
//
// Streams. Between two all-bank refreshes every row is closed (tRTP, or tCWL, burst and tWR after a
// write, then tRP), refreshed (tRFC) and opened again (tRCD). What is left of tREFI is the least
// that a stream keeps, and 1 - tRFC / tREFI the most; of n refreshes of a run the last may not have
// come. Refresh of one bank at a time leaves the others the bus: a stream keeps all of it at best,
// and at worst it does without each bank for as long as that bank is away.
//   Rows of the sixteen streams that meet in one of B banks follow each other at tRC. The W atoms
//   of the scheduler's window cover a meeting as long as they last, so that the banks' row cycles
//   over that time, tRC / (B W tBURST), is the scale of what meetings cost. Neighbouring runs lie
//   in R ranks at random, so that (R - 1) / R of them wait for tCS at most.
// Random runs. A run of n atoms visits the command and data bus for s = max(n tBURST, tFAW / 4,
//   tRRD), the latter two shared by the ranks, and one of B banks for tRC. At most 1 / max(s, tRC /
//   B) of them are served in a time, and at least N / (D + (N - 1) max(s, tRC / B)) with D = s +
//   tRC and N runs in the window: the balanced job bound of a closed network (Zahorjan et al.,
//   Comm. ACM 25(2), 1982).
#include <algorithm>

#include "hwmodels/memory/dram.hpp"

namespace tiersim::memory_bands {

/// Shares of the data sheet's rate.
struct Shares {
  double low = 0;
  double high = 1;
};

class Memory {
 public:
  explicit Memory(const DramConfig& c)
      : packet_(*c.packet_level),
        t_(packet_.timings),
        map_(*AddressMap::make(packet_.address_map)),
        shape_(map_),
        banks_(static_cast<double>(shape_.banks())),
        window_(static_cast<double>(packet_.scheduler.window)) {}

  /// The shares that a stream of packets can reach over `intervals` refresh intervals.
  Shares reads(double intervals) const { return streams(ticks(t_.rtp), intervals); }
  Shares writes(double intervals) const {
    return streams(ticks(t_.cwl + t_.burst + t_.wr), intervals);
  }
  /// Random reads of runs of n atoms.
  Shares random(double n) const {
    const double rows = std::max(ticks(t_.faw) / 4, ticks(std::min(t_.rrd_s, t_.rrd_l)));
    const double slot = std::max(n * ticks(t_.burst), rows / static_cast<double>(shape_.ranks));
    const double most = std::max(slot, ticks(t_.rc) / banks_);
    const double runs = window_ / n;
    const double rate = n * ticks(t_.burst);  // of the bus, for the data of a run
    return {.low = streams(ticks(t_.rtp), 1).low * rate * runs /
                   (slot + ticks(t_.rc) + (runs - 1) * most),
            .high = refreshed(0) * rate / most};
  }
  /// Share of the time that a refresh of a whole pseudo channel takes; 0 where banks take turns.
  double refresh() const { return all_bank() ? ticks(t_.rfc) / ticks(t_.refi) : 0; }

 private:
  static double ticks(std::int64_t clocks) { return static_cast<double>(clocks); }
  bool all_bank() const { return packet_.scheduler.refresh == DramRefresh::all_bank; }
  double refreshed(double missing) const { return 1 - refresh() * (1 - missing); }

  Shares streams(double closing, double intervals) const {
    const double away = closing + ticks(t_.rp + t_.rcd) + ticks(all_bank() ? t_.rfc : t_.rfc_pb);
    const double meetings = ticks(t_.rc) / (banks_ * window_ * ticks(t_.burst));
    const auto ranks = static_cast<double>(shape_.ranks);
    const double switches = (ranks - 1) / ranks * ticks(t_.cs) /
                            (static_cast<double>(map_.granule_atoms()) * ticks(t_.burst));
    return {.low = 1 - away / ticks(t_.refi) - meetings - switches,
            .high = refreshed(1 / intervals)};
  }

  const DramPacketConfig& packet_;
  DramClocks t_;
  AddressMap map_;
  DramShape shape_;
  double banks_, window_;
};

}  // namespace tiersim::memory_bands
