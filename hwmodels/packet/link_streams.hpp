#pragma once
// Model card: link_streams
//   Models    any number of concurrent operations that read and write through a link at packet
//             level: each keeps a fixed number of pieces in flight, and its pieces rotate over its
//             accesses so that all of them end together.
//   Equation  a run is cut into pieces of at most `cut` bytes, each a whole number of atoms, at an
//             address of its own. If an operation takes `spread` elsewhere, the bytes behind its
//             first share x come at x * spread at the earliest. Reads are done with their last
//             data, which took `beyond` behind the link; posted writes when the far side has
//             taken them, and `beyond` later.
//   Ignores   the source of the requests, beyond their number; `from`, unless a model states
//             otherwise: operations share the link in proportion to their bytes in flight.
//   Valid     as the link's own packets. An operation that is `window` pieces behind another one
//             waits for these, as in any queue that is served in order.
//   Source    definition.
//   Checked   tests/unit/packet/pcie_streams_test.cpp, cxl_streams_test.cpp
#include <cstdint>
#include <optional>
#include <vector>

#include "hwmodels/packet/memory_port.hpp"
#include "sim/base/rng.hpp"
#include "sim/model/packet_device.hpp"

namespace tiersim {

class LinkStreams : public PacketDevice, public EventHandler {
 public:
  void start(const PacketWork& work, EventHandler& done, std::uint64_t tag) final;
  void on_event(Engine& engine, std::uint64_t job) final;

  /// Operations that are under way or wait for their last answers.
  std::size_t open() const { return jobs_.size() - free_jobs_.size(); }

 protected:
  struct Piece {
    std::uint64_t name;  ///< identifies the piece in later calls
    /// A multiple of `cut`, or behind another piece; identifies its operation.
    std::uint64_t address;
    Bytes size;
    Direction direction;
    std::size_t from;
  };

  /// Preconditions: `cut` <= 32 KiB is a multiple of `atom`, and both are powers of two.
  LinkStreams(Engine& engine, Bytes cut, Bytes atom);
  ~LinkStreams() override = default;

  /// Begins a piece now.
  virtual void send(const Piece& piece) = 0;
  /// Number of pieces of such an access that may be in flight, above 0.
  virtual std::int64_t window(const PacketAccess& access, Duration beyond) const = 0;

  /// Reports that `size` bytes of an operation will have been moved `later` than now.
  void moved(std::size_t job, Bytes size, Duration later);
  /// Frees the piece's place in the link. All of its bytes have been moved.
  void piece_ended(std::uint64_t name);

  static bool is_write(std::uint64_t name) { return name >> 63U != 0; }
  static std::size_t job_of_name(std::uint64_t name) { return name >> 32U & 0x7fff'ffffU; }
  static Bytes size_of_name(std::uint64_t name) {
    return Bytes::from_base(static_cast<std::int64_t>(name & 0xffffU));
  }
  static std::size_t job_at(std::uint64_t address) { return address >> kJobShift; }
  Duration beyond(std::size_t job) const { return jobs_[job].beyond; }

  /// The memory behind the link: a read takes `latency`, its turn at `rate` if there is one, and
  /// the time that its operation adds.
  class Behind final : public MemoryPort {
   public:
    /// `counts_writes`: a write has been moved when this memory has taken it.
    Behind(LinkStreams& streams, std::optional<Bandwidth> rate, Duration latency,
           bool counts_writes);
    void serve(Engine& engine, const Request& request, Client& client) override;
    /// Empty for a write that others must wait for.
    std::optional<Duration> time_of(Engine& engine, const Request& request,
                                    SimTime arrives) override;

   private:
    Duration take(Engine& engine, const Request& request, SimTime arrives);

    LinkStreams& streams_;
    std::optional<Wire> service_;
    Duration latency_;
    bool counts_writes_;
  };

 private:
  static constexpr unsigned kJobShift = 40;

  struct Part {
    PacketAccess access;
    std::int64_t bytes;       // of whole atoms
    std::int64_t left;        // payload still to be issued
    std::int64_t in_run = 0;  // bytes left in the run that is being issued
    std::int64_t issued = 0;  // part of `bytes` that was issued
    std::uint64_t next = 0;   // address of the next piece
    std::int64_t window;      // pieces
    std::int64_t in_flight = 0;
  };
  struct Job {
    std::vector<Part> parts;
    SimTime began{};
    SimTime last{};
    Duration spread{}, beyond{};
    std::int64_t bytes = 0, issued = 0, moved = 0, ended = 0;
    std::size_t from = 0;
    bool told = false;  // true where an event lets it issue
    EventHandler* done = nullptr;
    std::uint64_t tag = 0;
  };

  std::int64_t whole_atoms(std::int64_t bytes) const { return (bytes + atom_ - 1) / atom_ * atom_; }
  Part part_of(const PacketAccess& access, Duration beyond) const;
  void issue(std::size_t index);
  Piece next_piece(std::size_t index, std::size_t part);

  Engine& engine_;
  std::int64_t cut_, atom_;
  Rng places_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> free_jobs_;
};

}  // namespace tiersim
