#pragma once
// Random traffic over every kind of DRAM configuration, for the command checker.
#include "sim/base/rng.hpp"
#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_test {

inline DramPacketConfig random_config(Rng& rng) {
  const std::uint64_t kind = rng.below(3);
  DramPacketConfig c = kind == 0 ? hbm3() : ddr5(kind == 1 ? 1 : 2);
  const std::uint64_t refresh = rng.below(3);
  c.scheduler.refresh = static_cast<DramRefresh>(refresh);
  c.scheduler.page_policy = rng.below(3) == 0 ? DramPagePolicy::closed : DramPagePolicy::open;
  c.scheduler.window = 1 + static_cast<std::int64_t>(rng.below(128));
  c.scheduler.write_buffer = 2 + static_cast<std::int64_t>(rng.below(100));
  c.scheduler.write_high = 1 + c.scheduler.write_buffer * 3 / 4;
  c.scheduler.write_low = c.scheduler.write_high / 3;
  if (rng.below(4) == 0) c.scheduler.max_age = Duration(100'000);
  if (rng.below(2) == 0)
    c.address_map.hashes = {{DramField::bank, 0, DramField::row, 1},
                            {DramField::bank_group, 1, DramField::row, 3}};
  // Distances that hide behind others in one part bind in another.
  if (rng.below(2) == 0) c.timings.t_rrd_l.value = c.timings.t_rrd_l.value * 2;
  if (rng.below(3) == 0) c.timings.t_rc.value = c.timings.t_rc.value * 5 / 4;
  if (rng.below(3) == 0) c.timings.t_rtp.value = c.timings.t_rtp.value * 3;
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
