#pragma once
// Model card: dram_memory
//   Models    DRAM at packet level behind a link: modules with interleaved addresses, each with its
//             pseudo channels and their schedulers.
//   Equation  a request is cut into atoms and has been served when the last of them has. A decision
//             of a scheduler is served in its own clock, after all requests that arrive until
//             then.
//   Ignores   as pseudo_channel; the wires between the controller and its client.
//   Valid     as pseudo_channel.
//   Source    as pseudo_channel.
//   Checked   tests/unit/packet/cxl_dram_test.cpp
#include <vector>

#include "hwmodels/packet/dram/dram_config.hpp"
#include "hwmodels/packet/dram/pseudo_channel.hpp"
#include "hwmodels/packet/memory_port.hpp"

namespace tiersim {

class DramMemory final : public MemoryPort, public EventHandler {
 public:
  /// Precondition: config.address_map makes an AddressMap; modules > 0.
  explicit DramMemory(const DramPacketConfig& config, std::size_t modules = 1,
                      Bytes interleave = Bytes::from_base(256));

  void serve(Engine& engine, const Request& request, Client& client) override;
  void on_event(Engine& engine, std::uint64_t what) override;

  std::int64_t in_flight() const;

 private:
  struct Open {
    Client* client = nullptr;
    std::uint64_t tag = 0;
    std::int64_t atoms = 0;  // atoms still to be served
    std::int64_t last = 0;   // latest completion so far, in clocks
  };
  SimTime at(std::int64_t clock) const { return SimTime(Duration(clock * clocks_.period_ps)); }
  std::uint32_t open(const Request& request, Client& client);
  std::uint64_t atom_in_module(std::uint64_t address) const;
  void wake(Engine& engine, std::size_t channel);
  void settle(Engine& engine);

  DramClocks clocks_;
  AddressMap map_;
  DramShape shape_;
  std::uint64_t atom_;
  std::uint64_t interleave_;
  std::uint64_t modules_;
  std::vector<PseudoChannel> channels_;  // of all modules
  std::vector<std::int64_t> wake_at_;    // clock of each channel's earliest event; kNever: none
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  std::vector<DramDone> done_;
};

}  // namespace tiersim
