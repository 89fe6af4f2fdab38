#pragma once
// Random traffic over every kind of DRAM configuration, for the command checker.
#include "sim/base/rng.hpp"
#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_test {

/// Stretches or shortens single timings: one that is hidden behind others in one part binds in
/// another.
inline void vary(Rng& rng, DramTimings& t) {
  using T = DramTimings;
  for (Sourced<Duration> T::*distance :
       {&T::t_rcd, &T::t_rp, &T::t_ras, &T::t_rc, &T::t_rtp, &T::t_wr, &T::t_ccd_s, &T::t_ccd_l,
        &T::t_ccd_l_wr, &T::t_rrd_s, &T::t_rrd_l, &T::t_faw, &T::t_wtr_s, &T::t_wtr_l, &T::t_gap,
        &T::t_cs, &T::t_rfc, &T::t_rfc_pb, &T::t_rrefd}) {
    const std::uint64_t kind = rng.below(8);
    if (kind == 0) (t.*distance).value *= 3;
    if (kind == 1) (t.*distance).value /= 2;
  }
  if (rng.below(4) == 0) t.t_rcd_wr = {.value = t.t_rcd.value / 2};
  if (rng.below(4) == 0) t.t_row.value = t.t_rrd_s.value * 3 / 2;
}

/// HBM3 of two ranks in one pseudo channel, as the stack IDs of a tall stack, a switch apart.
inline DramPacketConfig hbm3_of_two_ranks() {
  DramPacketConfig c = hbm3();
  c.timings.t_cs.value = c.timings.t_ck.value * 2;
  c.address_map.pieces = {{DramField::column, 3}, {DramField::pseudo_channel, 1},
                          {DramField::rank, 1},   {DramField::bank_group, 2},
                          {DramField::column, 2}, {DramField::bank, 2},
                          {DramField::row, 14}};
  return c;
}

inline DramPacketConfig random_config(Rng& rng) {
  const std::uint64_t kind = rng.below(4);
  DramPacketConfig c = kind == 0   ? hbm3()
                       : kind == 1 ? hbm3_of_two_ranks()
                                   : ddr5(kind == 2 ? 1 : 2);
  c.scheduler.refresh = static_cast<DramRefresh>(rng.below(kDramRefreshNames.size()));
  c.scheduler.page_policy = rng.below(3) == 0 ? DramPagePolicy::closed : DramPagePolicy::open;
  c.scheduler.window = 1 + static_cast<std::int64_t>(rng.below(128));
  c.scheduler.write_buffer = 2 + static_cast<std::int64_t>(rng.below(100));
  c.scheduler.write_high = 1 + c.scheduler.write_buffer * 3 / 4;
  c.scheduler.write_low = c.scheduler.write_high / 3;
  if (rng.below(4) == 0) c.scheduler.max_age = Duration(100'000);
  if (rng.below(2) == 0)
    c.address_map.hashes = {{DramField::bank, 0, DramField::row, 1},
                            {DramField::bank_group, 1, DramField::row, 3}};
  if (rng.below(4) != 0) vary(rng, c.timings);
  return c;
}

inline DramProbe random_probe(Rng& rng, std::int64_t atoms) {
  DramProbe p;
  p.pattern = rng.below(2) == 0 ? DramPattern::random : DramPattern::sequential;
  p.streams = 1 + static_cast<std::int64_t>(rng.below(24));
  p.run = Bytes::from_base(std::int64_t{32} << rng.below(8));
  p.read_share = static_cast<double>(rng.below(5)) / 4.0;
  p.arrivals = rng.below(2) == 0 ? DramArrivals::closed : DramArrivals::poisson;
  p.outstanding_atoms = std::int64_t{1} << rng.below(10);
  p.offered = 0.05 + 0.9 * rng.uniform();
  p.atoms = atoms;
  p.seed = rng.next();
  return p;
}

}  // namespace tiersim::dram_test
