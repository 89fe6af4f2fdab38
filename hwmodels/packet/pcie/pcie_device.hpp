#pragma once
// Model card: pcie_device
//   Models    a device that reads and writes host memory: transfers cut into requests, a tag for
//             each read request until its last completion, one engine for reads and one for writes.
//   Equation  a read ends when its last completion has arrived, after `latency` and its bytes at
//             the internal rate; a write when the root complex has taken it, after `latency`.
//             Reads begin at least `read_interval` apart, writes `write_interval`, each in order.
//   Ignores   the use of the data in the device; descriptors, except for these intervals.
//   Valid     as pcie_packet.
//   Source    as pcie_packet.
//   Checked   tests/unit/packet/pcie_probe_test.cpp
#include <vector>

#include "hwmodels/packet/pcie/tlp_channel.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

class PcieDevice final : public EventHandler, public TlpReceiver, public TlpSource {
 public:
  /// Called back when a transfer has ended.
  class Owner {
   public:
    virtual void ended(std::size_t device, std::uint64_t transfer) = 0;

   protected:
    ~Owner() = default;
  };

  PcieDevice(Engine& engine, const PciePacketConfig& config, std::uint16_t index, Owner& owner);
  void connect(TlpChannel& up, TlpChannel& down);

  /// Begins a transfer of `size` > 0 bytes as soon as the earlier ones allow it. `name` is passed
  /// back to the owner.
  void start(Direction direction, std::uint64_t address, Bytes size, std::uint64_t name);
  /// Called when the root complex has taken one write packet.
  void written(const Tlp& tlp);

  std::int64_t most_tags() const { return tags_.most_held(); }

  void receive(const Tlp& tlp, SimTime tail) override;
  void departed(const Tlp& tlp) override;
  void on_event(Engine& engine, std::uint64_t payload) override;

 private:
  struct Transfer {
    std::uint64_t name = 0;
    std::uint64_t address = 0;  // address of the next request
    std::int64_t size = 0;
    std::int64_t to_request = 0;
    std::int64_t to_finish = 0;
    Direction direction = Direction::read;
  };
  struct Tag {
    std::uint32_t transfer = 0;
    std::int64_t left = 0;
  };
  struct Queue {
    FifoRing<std::uint32_t> transfers;
    Duration interval{};
    SimTime next_start{};
    std::int64_t packets_ahead = 0;  // in the channel's queue
    bool woken_later = false;
  };

  Queue& queue_of(Direction direction) { return queues_[static_cast<std::size_t>(direction)]; }
  void pump(Direction direction);
  bool begin(Queue& queue, const Transfer& transfer, Direction direction);
  void request(std::uint32_t index, Queue& queue);
  void finish_part(std::uint32_t index, std::int64_t bytes);

  Engine& engine_;
  Owner& owner_;
  TlpChannel* up_ = nullptr;
  TlpChannel* down_ = nullptr;
  std::uint16_t index_;
  std::int64_t max_payload_;
  std::int64_t max_read_request_;
  Duration latency_;
  std::optional<Bandwidth> internal_rate_;
  Queue queues_[2];  // by direction
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  Credits tags_;
  std::vector<Tag> in_use_;
  std::vector<std::uint32_t> free_tags_;
};

}  // namespace tiersim
