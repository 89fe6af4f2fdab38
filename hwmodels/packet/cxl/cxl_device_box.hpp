#pragma once
// Model card: cxl_device_box
//   Models    a memory device: requests wait in its buffers until one of its work slots is free,
//             then take the controller's latency and the memory's time, and perhaps a tail.
//   Equation  at most `outstanding` lines from the start of work until the response's header has
//             left; a line's buffer is free, and its credit goes back, at the start of work.
//   Ignores   order between reads and writes of one line.
//   Valid     as cxl_packet.
//   Source    as cxl_packet.
//   Checked   tests/unit/packet/cxl_probe_test.cpp
#include <memory>
#include <optional>
#include <vector>

#include "hwmodels/packet/cxl/flit_channel.hpp"
#include "hwmodels/packet/memory_port.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

class CxlDeviceBox final : public CxlReceiver, public CxlSource, public MemoryPort::Client {
 public:
  /// `memory` may be null: then the latency and rate of the configuration hold.
  CxlDeviceBox(Engine& engine, const CxlPacketConfig& config, std::uint16_t index,
               MemoryPort* memory);
  void connect(FlitChannel& down, FlitChannel& up);

  std::int64_t most_at_work() const { return at_work_.most_held(); }

  void receive(const CxlMessage& message) override;
  void departed(const CxlMessage& message) override;
  void served(std::uint64_t place) override;

 private:
  void work_on(const CxlMessage& message);
  static MemoryPort::Request request_of(const CxlMessage& message);
  void ask_memory(const CxlMessage& message);
  void answer_later(const CxlMessage& message, Duration delay);
  void answer(CxlMessage message);
  Duration tail();

  Engine& engine_;
  Duration before_;  // part of the controller's latency before the memory access
  Duration after_;
  std::unique_ptr<MemoryPort> own_memory_;
  MemoryPort* memory_;
  Duration fixed_latency_{};  // of the memory, where no MemoryPort is given
  std::optional<CxlTail> tail_;
  Rng rng_;
  Credits at_work_;
  FifoRing<CxlMessage> waiting_;
  std::vector<CxlMessage> at_memory_;  // by the tag of the memory request
  std::vector<std::uint32_t> free_places_;
  FlitChannel* down_ = nullptr;
  FlitChannel* up_ = nullptr;
};

}  // namespace tiersim
