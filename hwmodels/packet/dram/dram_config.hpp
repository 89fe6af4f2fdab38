#pragma once
// Parameters of a DRAM at packet level: one stack, or one module, whose pseudo channels (HBM),
// channels (GDDR) or subchannels (DDR5) each have a data bus, banks and a scheduler of their own.
#include "hwmodels/packet/dram/address_map.hpp"
#include "hwmodels/packet/dram/dram_timings.hpp"

namespace tiersim {

enum class DramPagePolicy : std::uint8_t { open, closed };
inline constexpr std::array<std::string_view, 2> kDramPagePolicyNames{"open", "closed"};
enum class DramRefresh : std::uint8_t { none, all_bank, per_bank };
inline constexpr std::array<std::string_view, 3> kDramRefreshNames{"none", "all_bank", "per_bank"};

/// The scheduler of a pseudo channel. Vendors do not publish theirs, so all values are assumed.
struct DramScheduler {
  std::int64_t window = 64;                ///< reads that it may reorder
  std::int64_t write_buffer = 64;          ///< posted writes that it holds
  std::int64_t write_high = 48;            ///< writes at which a drain begins
  std::int64_t write_low = 16;             ///< writes at which it ends
  Duration max_age = Duration(2'000'000);  ///< an atom visible for this long goes next
  DramPagePolicy page_policy = DramPagePolicy::open;
  DramRefresh refresh = DramRefresh::all_bank;
};

struct DramPacketConfig {
  Sourced<Bytes> atom = {.value = Bytes::from_base(32),
                         .number_class = NumberClass::specification,
                         .source = "JESD238: burst of 8 on a 32-bit pseudo channel"};
  AddressMapConfig address_map;  ///< of one stack or module; also gives the number of banks
  DramTimings timings;
  DramScheduler scheduler;
};

void describe(Fields& f, DramScheduler& c);
void describe(Fields& f, DramPacketConfig& c);

/// Banks of a pseudo channel, by the address map.
struct DramShape {
  std::size_t pseudo_channels, ranks, groups, banks_of_group;

  explicit DramShape(const AddressMap& map);
  std::size_t banks() const { return ranks * groups * banks_of_group; }
  std::size_t flat_bank(const DramPlace& place) const;
  std::size_t flat_channel(const DramPlace& place) const;

 private:
  std::size_t channels_of_stack_;
};

/// Largest number of banks of a pseudo channel; more are refused.
inline constexpr std::size_t kDramBanksMost = 256;

/// Data-sheet bandwidth of one pseudo channel: one atom in a burst time of whole clocks.
Bandwidth channel_peak(const DramPacketConfig& config);

}  // namespace tiersim
