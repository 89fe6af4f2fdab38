#pragma once
// Model card: pcie_root
//   Models    a root complex with the memory behind it: takes posted writes, answers reads with
//             completions that end at multiples of a boundary.
//   Equation  a read is served when it has come and every write of its device before it has been
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

class PcieRoot final : public TlpReceiver {
 public:
  /// `memory` may be null: then the data are there at once. It and `devices` live as long.
  PcieRoot(Engine& engine, const PciePacketConfig& config, MemoryPort* memory,
           std::vector<PcieDevice*> devices);
  void connect(TlpChannel& up, TlpChannel& down);

  void receive(const Tlp& tlp, SimTime tail) override;

 private:
  SimTime served(const Tlp& tlp, Direction direction);
  void read(const Tlp& tlp);
  void answer(const Tlp& tlp);
  void take(const Tlp& tlp);

  Engine& engine_;
  MemoryPort* memory_;
  std::vector<PcieDevice*> devices_;
  std::vector<SimTime> writes_taken_;  // when the last write of each device so far is taken
  TlpChannel* up_ = nullptr;
  TlpChannel* down_ = nullptr;
  Duration read_latency_;
  Duration write_latency_;
  std::int64_t boundary_;
  bool relaxed_;
};

}  // namespace tiersim
