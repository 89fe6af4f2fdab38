#pragma once
// Model card: DRAM pseudo channel (HBM pseudo channel, GDDR channel, DDR5 subchannel; packet level)
//   Models    banks with open rows, the command gates tRCD tRP tRAS tRC tRTP tWR tCCD tRRD tFAW
//             tWTR tRTW, the bus of row commands, rank switches, all-bank and per-bank refresh, a
//             window of reads that may be reordered, posted writes that are drained in batches.
//   Equation  of the atoms in the window, the one with the earliest possible RD or WR is next, the
//             oldest of equals; its ACT comes as early as the gates allow, even before the RD of
//             atoms that were chosen earlier, since it uses another bus. No row is closed while
//             the window holds hits of it. An atom older than max_age is next at any cost. There
//             is no event for a command: choosing an atom reserves its slots.
//   Ignores   the bus of column commands beyond one command a clock, the clock that HBM3 loses
//             between stack IDs (tCCD_R), power-down, postponed or early refresh, ECC, forwarding
//             of posted writes to reads, the wires between the GPU's cache and the controller.
//             While writes are drained no read of the pseudo channel goes.
//   Valid     whole clocks; arrivals are taken at the next clock. Compared with cycle-level
//             simulators, up to .8 of saturation for latency: DRAMsim3 (HBM3-6400) saturation
//             within 5 %, mean read latency 13 %. Ramulator 2.1 (DDR5-4800) saturation within 4 %,
//             latency 20 % low at most, but 26 % high with a third of writes at half load, where
//             it lets reads of open rows pass its drains. Ramulator 2.1 (HBM3-6400): here 5 to 9 %
//             more on random runs of 128 to 512 B (it has tCCD_R and a read queue of 32) and 24 to
//             35 % more with writes (its write queue of 32 is a known fault, not copied).
//   Source    JEDEC data sheets by way of the parameters; FR-FCFS: Rixner et al., ISCA 2000.
//   Checked   tests/unit/packet/dram_{gate,scheduler,probe,reference}_test.cpp,
//             tests/property/dram_random_commands_test.cpp
#include <array>
#include <limits>
#include <vector>

#include "hwmodels/packet/dram/atom_window.hpp"
#include "hwmodels/packet/dram/dram_command.hpp"
#include "hwmodels/packet/dram/dram_config.hpp"

namespace tiersim {

/// An atom that is complete: the data of a read have arrived, or a write was taken. In clocks.
struct DramDone {
  std::int64_t at = 0;
  std::uint32_t tag = 0;
};

/// Event counts, for conservation checks and reports.
struct DramCounts {
  std::int64_t pushed = 0, reads = 0, writes = 0;  ///< atoms in; served
  std::int64_t hits = 0, activates = 0, refreshes = 0, turnarounds = 0;
  std::int64_t served() const { return reads + writes; }
};

class PseudoChannel {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// Every command is appended to `trace`, unless it is null.
  PseudoChannel(const DramClocks& clocks, const DramShape& shape, const DramScheduler& scheduler,
                DramTrace* trace = nullptr);

  /// Adds an atom. Atoms must come in the order of arrival, none before a decision already served.
  void push(const DramAtom& atom, std::vector<DramDone>& done);
  /// The clock of the next decision; kNever where nothing waits.
  std::int64_t next();
  /// Serves the next decision. Completed atoms are appended to `done`, with their times.
  void serve(std::vector<DramDone>& done);
  /// Serves every decision before `clock`; no later arrival can change them.
  void run_until(std::int64_t clock, std::vector<DramDone>& done) {
    while (next() < clock) serve(done);
  }

  const DramCounts& counts() const { return counts_; }
  std::int64_t in_flight() const { return counts_.pushed - counts_.served(); }
  /// Time from a read's command to the end of its data; writes are acknowledged after the same
  /// time.
  std::int64_t response() const { return clocks_.cl + clocks_.burst; }

 private:
  struct Bank {
    std::int64_t open_row = -1;
    std::int64_t read_at = 0;       ///< earliest RD of the open row
    std::int64_t write_at = 0;      ///< earliest WR of the open row
    std::int64_t precharge_at = 0;  ///< earliest PRE
    std::int64_t activate_at = 0;   ///< earliest ACT, after any PRE
    std::int64_t activated_at = -kLongAgo;
    std::uint32_t rank = 0;
    std::uint32_t group = 0;  ///< index over all ranks
  };
  struct Rank {
    std::int64_t activate_at = 0;  ///< by tRRD and tFAW
    std::int64_t four_activates[4] = {-kLongAgo, -kLongAgo, -kLongAgo, -kLongAgo};
    std::uint32_t oldest = 0;
    std::int64_t read_at = 0, write_at = 0;
    std::int64_t refresh_due = kNever;
    std::int64_t refresh_count = 0;
    std::int64_t bank_refreshes[4] = {-kLongAgo, -kLongAgo, -kLongAgo, -kLongAgo};
  };
  struct Group {
    std::int64_t activate_at = 0, read_at = 0, write_at = 0;
  };
  struct Choice {
    std::int64_t column = kNever;
    std::int64_t activate = -1;  ///< ACT of a miss; -1 for a hit
    std::size_t position = 0;    ///< index by age in its window
  };
  static constexpr std::int64_t kLongAgo = std::int64_t{1} << 40;

  void decide();
  void choose_direction();
  Choice best(const AtomWindow& window, bool write) const;
  std::int64_t activation(const Bank& bank, std::int64_t visible) const;
  void open_row(std::size_t bank, const Choice& choice, std::int64_t row);
  void column_command(std::size_t bank, std::int64_t at, bool write);
  void close_if_idle(std::size_t bank);
  void refresh();
  void refresh_rank(std::size_t rank);
  void refresh_bank(std::size_t rank);
  void schedule_refresh(std::size_t rank);
  void close(std::size_t bank, std::int64_t usable_at);
  void record(DramCommandKind kind, std::int64_t at, std::size_t bank, std::int64_t row = 0) {
    if (trace_)
      trace_->push_back({at * clocks_.period_ps, static_cast<std::uint32_t>(row),
                         static_cast<std::uint16_t>(bank), kind});
  }

  DramClocks clocks_;
  DramScheduler scheduler_;
  std::int64_t max_age_;
  std::size_t banks_of_rank_;
  std::vector<Bank> banks_;
  std::vector<Rank> ranks_;
  std::vector<Group> groups_;
  AtomWindow reads_;
  AtomWindow writes_;
  DramTrace* trace_;
  DramCounts counts_;
  Choice choice_;
  std::int64_t next_ = kNever;
  /// Clock of the last arrival, RD or WR: no earlier command on the column bus.
  std::int64_t now_ = 0;
  std::int64_t row_bus_at_ = 0;  ///< earliest ACT by the bus of row commands
  std::size_t refresh_rank_ = 0;
  bool refresh_next_ = false;
  bool draining_ = false;  ///< until write_low
  bool writing_ = false;   ///< direction of choice_
  bool last_was_write_ = false;
  bool decided_ = true;
};

}  // namespace tiersim
