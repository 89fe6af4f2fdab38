#pragma once
// Model card: dram_streams
//   Models    any number of concurrent operations that read and write a DRAM at packet level: each
//             keeps a fixed number of atoms in flight, and its requests rotate over its accesses
//             so that all of them end together.
//   Equation  one stack, or module, has its share of every access, stack peak / peak of the whole;
//             the others are copies of it. Runs above 4 KiB are read in pieces of that size, over
//             16 streams of addresses, as blocks of a kernel do; shorter ones lie at random. If an
//             operation takes `spread` elsewhere, its request i of n comes at i / n of it at the
//             earliest. Reads are done with their last data, writes when the buffers took them.
//   Ignores   the source of the requests, beyond their number; caches.
//   Valid     as pseudo_channel. An operation that comes while others are served begins up to one
//             response (tCL and a burst) late, since channels go forward that far at a time.
//             A limit on writes is one of what sends them, on average: a run of them comes no
//             earlier than those before it leave room for, less what a refresh held back (a refresh
//             interval at most), and the rest of its operation waits with it.
//   Source    as pseudo_channel; 4096 atoms in flight in a stack: 128 KiB, above bandwidth times
//             latency of any shipped device.
//   Checked   tests/unit/packet/dram_streams_test.cpp
#include <queue>
#include <vector>

#include "hwmodels/packet/dram/dram_workload.hpp"
#include "hwmodels/packet/dram/pseudo_channel.hpp"
#include "sim/model/packet_device.hpp"

namespace tiersim {

class DramStreams final : public PacketDevice, public EventHandler {
 public:
  /// `share`: part of each access that this stack serves, in (0, 1]. `write_limit`: share of the
  /// stack's data-sheet rate at which writes come at most; 0: no limit. Precondition:
  /// config.address_map makes an AddressMap.
  DramStreams(Engine& engine, const DramPacketConfig& config, double share, double write_limit = 0);

  void start(const PacketWork& work, EventHandler& done, std::uint64_t tag) override;
  void on_event(Engine& engine, std::uint64_t payload) override;

  /// Counts over all pseudo channels.
  DramCounts counts() const;

 private:
  struct Part {
    bool write;
    std::int64_t atoms_of_run;
    std::int64_t runs, issued;
    DramWorkload places;
  };
  struct Job {
    std::vector<Part> parts;
    std::int64_t began, spread;  // clocks
    std::int64_t atoms = 0, issued = 0, ended = 0;
    bool told = false;  // true where an entry of `due_` lets it issue
    EventHandler* done = nullptr;
    std::uint64_t tag = 0;
  };
  struct Open {  // an issued run
    std::size_t job;
    std::int64_t atoms, left, last;
  };
  struct Due {  // the end of a run, or a job that may issue
    std::int64_t at;
    std::uint64_t order;
    std::size_t index;  // in open_ or jobs_
    bool run;
    bool operator>(const Due& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  Part part_of(const PacketAccess& access);
  void issue(std::size_t job, std::int64_t clock);
  void issue_run(std::size_t job, Part& part, std::int64_t clock);
  void end_run(std::size_t run, std::int64_t clock);
  void settle();
  void add_due(std::int64_t at, std::size_t index, bool run) {
    due_.push({at, order_++, index, run});
  }
  void wake(std::int64_t clock);
  SimTime at(std::int64_t clock) const { return SimTime(Duration(clock * clocks_.period_ps)); }

  Engine& engine_;
  DramClocks clocks_;
  AddressMap map_;
  DramShape shape_;
  Bytes atom_;
  double share_;
  double clocks_of_written_atom_ = 0;  // by the limit on writes
  double write_from_ = 0;              // earliest clock of the next write under it
  std::vector<PseudoChannel> channels_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> free_jobs_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  std::vector<DramDone> done_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t order_ = 0;
  std::uint64_t accesses_ = 0;  // accesses so far: each has its own random addresses
  std::int64_t horizon_ = 0;    // clock that the channels have reached
  std::size_t running_ = 0;     // jobs
  std::int64_t wake_at_ = -1;   // clock of the next event; -1: none
};

}  // namespace tiersim
