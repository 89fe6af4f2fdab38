#pragma once
// The workloads of each device; fidelity_map.cpp combines them.
#include "hwmodels/collective/direct.hpp"
#include "hwmodels/collective/nccl.hpp"
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/hop.hpp"
#include "hwmodels/link/network.hpp"
#include "hwmodels/link/nvlink.hpp"
#include "hwmodels/link/pcie.hpp"
#include "hwmodels/memory/dram.hpp"
#include "sim/validate/fidelity_map.hpp"

namespace tiersim::fidelity_map {

/// A run of a random gather, with its names in ids and titles.
struct NamedSize {
  Bytes size;
  const char* id;
  const char* text;
};
inline constexpr std::array kGatherRuns{
    NamedSize{Bytes::from_base(64), "64b", "64 B"},
    NamedSize{Bytes::from_base(256), "256b", "256 B"},
    NamedSize{Bytes::from_base(1024), "1k", "1 KiB"},
    NamedSize{Bytes::from_base(4096), "4k", "4 KiB"},
};
/// Packets in a single transfer.
inline constexpr std::array<std::int64_t, 5> kTransferPackets{1, 4, 16, 64, 256};
/// Number of packets from which on a transfer must take the same time at both levels.
inline constexpr std::int64_t kAlikeFrom = 64;

/// Payload of a bulk stream.
inline constexpr Bytes kBulk = Bytes::from_base(64 << 20);
/// Size of the access behind which a short one waits.
inline constexpr Bytes kAhead = Bytes::from_base(1 << 20);

/// Two thirds of `payload` read and one third written, in constant proportion.
std::vector<LevelAccess> mixed_asks(const Device& device, Bytes payload, Bytes run);
/// A window of `outstanding` requests in flight, each of at most `size`.
struct Window {
  std::int64_t outstanding = 0;
  Bytes size{};
};
/// Limits a read in runs of `run` by its window. The round trip is the latency of its parts and
/// `more`, plus the queueing in `links` and in `memory` (may be null).
void limit(LevelAccess& access, Bytes run, const Window& window, Duration more,
           std::initializer_list<const Link*> links, const MemoryTier* memory = nullptr);

/// Collects the workloads of one group.
class Workloads {
 public:
  Workloads(std::string group, std::shared_ptr<void> devices)
      : group_(std::move(group)), devices_(std::move(devices)) {}

  struct Named {
    std::string id;  ///< without the group
    std::string title;
    bool alike = false;
  };
  void add(Named named, LevelMeasure measure, std::vector<LevelAccess> accesses,
           std::function<LevelAnswer()> packet);
  std::vector<LevelWorkload> take() { return std::move(list_); }

 private:
  std::string group_;
  std::shared_ptr<void> devices_;
  std::vector<LevelWorkload> list_;
};

std::vector<LevelWorkload> of_hbm(const DramConfig& hbm);
std::vector<LevelWorkload> of_pcie(const PcieConfig& link);
/// `module` may be null.
std::vector<LevelWorkload> of_cxl(const CxlConfig& link, const DramConfig* module);
/// `direct` and `nccl` may be null.
std::vector<LevelWorkload> of_nvlink(const NvlinkConfig& port, const HopConfig& nvswitch,
                                     const DirectConfig* direct, const NcclConfig* nccl);
/// `nccl` may be null.
std::vector<LevelWorkload> of_network(const NetworkConfig& adapter, const NcclConfig* nccl);

}  // namespace tiersim::fidelity_map
