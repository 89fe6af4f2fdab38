#include "hwmodels/packet/dram/dram_config.hpp"

namespace tiersim {

void describe(Fields& f, DramScheduler& c) {
  f.doc("How a memory controller orders the atoms of one pseudo channel.");
  f.optional("window", c.window, "Reads that it may reorder.", in_range(1, 4096));
  f.optional("write_buffer", c.write_buffer, "Posted writes that it holds.", in_range(1, 4096));
  f.optional("write_high", c.write_high, "Writes held from which it drains them.",
             in_range(1, 4096));
  f.optional("write_low", c.write_low, "Writes held at which it returns to reads.",
             in_range(0, 4095));
  f.optional("max_age", c.max_age, "An atom that it has seen this long is next.",
             in_range(Duration(0), std::chrono::milliseconds(1)));
  f.optional("page_policy", c.page_policy, kDramPagePolicyNames,
             "True: a row stays open once no request waits for it.");
  f.optional("refresh", c.refresh, kDramRefreshNames, "Whole ranks at a time, single banks, none.");
  f.check(c.write_high <= c.write_buffer, "write_high", "is above the write buffer",
          "draining would never begin");
  f.check(c.write_low < c.write_high, "write_low", "is not below write_high",
          "draining would end as it begins");
}

void describe(Fields& f, DramPacketConfig& c) {
  f.doc("A DRAM with its banks, timings and scheduler (packet level).");
  f.optional("atom", c.atom, "Bytes of one burst.",
             in_range(Bytes::from_base(8), Bytes::from_base(4096)));
  f.optional("address_map", c.address_map, "Where an address lies.");
  f.optional("timings", c.timings, "Least times between commands.");
  f.optional("scheduler", c.scheduler, "Order of the atoms of one pseudo channel.");
  const auto map = AddressMap::make(c.address_map);
  if (!map) return;
  f.check(DramShape(*map).banks() <= kDramBanksMost, "address_map",
          "has more than 256 banks in a pseudo channel", "name fewer rank, group or bank bits");
  const std::int64_t atom = c.atom.value.in_base();
  f.check(atom > 0 && (atom & (atom - 1)) == 0, "atom", "is no power of two",
          "addresses are split at its bits");
}

DramShape::DramShape(const AddressMap& map)
    : pseudo_channels(std::size_t{1} << static_cast<unsigned>(
                          map.bits_of(DramField::pseudo_channel) + map.bits_of(DramField::stack))),
      ranks(std::size_t{1} << static_cast<unsigned>(map.bits_of(DramField::rank))),
      groups(std::size_t{1} << static_cast<unsigned>(map.bits_of(DramField::bank_group))),
      banks_of_group(std::size_t{1} << static_cast<unsigned>(map.bits_of(DramField::bank))),
      channels_of_stack_(std::size_t{1}
                         << static_cast<unsigned>(map.bits_of(DramField::pseudo_channel))) {}

std::size_t DramShape::flat_bank(const DramPlace& p) const {
  const std::size_t rank = p[static_cast<std::size_t>(DramField::rank)];
  const std::size_t group = p[static_cast<std::size_t>(DramField::bank_group)];
  return (rank * groups + group) * banks_of_group + p[static_cast<std::size_t>(DramField::bank)];
}

std::size_t DramShape::flat_channel(const DramPlace& p) const {
  return p[static_cast<std::size_t>(DramField::stack)] * channels_of_stack_ +
         p[static_cast<std::size_t>(DramField::pseudo_channel)];
}

Bandwidth channel_peak(const DramPacketConfig& config) {
  const DramClocks clocks(config.timings);
  const Int128 burst_ps = Int128{std::max(clocks.burst, clocks.ccd_s)} * clocks.period_ps;
  return Bandwidth::from_base(static_cast<std::int64_t>(Int128{config.atom.value.in_base()} *
                                                        kPicosecondsPerSecond / burst_ps));
}

}  // namespace tiersim
