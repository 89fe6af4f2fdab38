#pragma once
// Model card: pcie_root
//   Models    a root complex with the memory behind it: takes posted writes, answers reads with
//             completions that end at multiples of a boundary.
//   Equation  a read is served when it has come and every earlier write of its device has been
//             taken (relaxed ordering lifts this); its completions are queued `read_latency` after
//             the memory has the data. A write holds its buffer until the memory has taken it.
//   Ignores   limits on reads in service (tags and credits limit them), peer-to-peer traffic,
//             writes of the host to a device.
//   Valid     as pcie_packet.
//   Source    as pcie_packet.
//   Checked   tests/unit/packet/pcie_probe_test.cpp
#include <vector>

#include "hwmodels/packet/memory_port.hpp"
#include "hwmodels/packet/pcie/pcie_device.hpp"

namespace tiersim {

class PcieRoot final : public TlpReceiver, public MemoryPort::Client {
 public:
  /// `memory` may be null: then data are ready at once. It and `devices` must outlive this object.
  PcieRoot(Engine& engine, const PciePacketConfig& config, MemoryPort* memory,
           std::vector<PcieDevice*> devices);
  void connect(TlpChannel& up, TlpChannel& down);

  void receive(const Tlp& tlp, SimTime tail) override;
  void served(std::uint64_t place) override;

 private:
  /// A read that waits for earlier writes.
  struct HeldRead {
    Tlp tlp;
    std::int64_t writes_before = 0;
  };
  /// Writes of a device, taken in the order of arrival.
  struct Writes {
    struct Pending {
      Tlp tlp;
      bool served = false;
    };
    std::int64_t arrived = 0;
    std::int64_t served = 0;  // writes that left `pending`
    std::int64_t taken = 0;
    FifoRing<Pending> pending;
    FifoRing<HeldRead> held;
  };
  struct AtMemory {
    Tlp tlp;
    std::int64_t order = 0;  // number of a write
  };

  void ask_memory(const Tlp& tlp, std::int64_t order);
  void done_in_memory(const AtMemory& request, Duration later = Duration(0));
  void answer(const Tlp& tlp);
  void take(const Tlp& tlp);

  Engine& engine_;
  MemoryPort* memory_;
  std::vector<PcieDevice*> devices_;
  std::vector<Writes> writes_;  // by device
  std::vector<AtMemory> at_memory_;
  std::vector<std::uint32_t> free_places_;
  TlpChannel* up_ = nullptr;
  TlpChannel* down_ = nullptr;
  Duration read_latency_;
  Duration write_latency_;
  std::int64_t boundary_;
  bool relaxed_;
};

}  // namespace tiersim
