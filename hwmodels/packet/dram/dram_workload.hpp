#pragma once
// The transactions of a DRAM microbenchmark, each with its place and direction.
#include <vector>

#include "hwmodels/packet/dram/dram_probe.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {

class DramWorkload {
 public:
  struct Transaction {
    std::uint64_t first_atom;
    bool write;
  };

  DramWorkload(const DramProbe& probe, std::int64_t atoms_of_run, int address_bits)
      : sequential_(probe.pattern == DramPattern::sequential),
        read_share_(probe.read_share),
        atoms_of_run_(static_cast<std::uint64_t>(atoms_of_run)),
        runs_((std::uint64_t{1} << static_cast<unsigned>(address_bits)) / atoms_of_run_),
        places_(probe.seed, "dram.places"),
        directions_(probe.seed, "dram.directions") {
    TS_EXPECTS(runs_ > 0 && probe.streams > 0, runs_, probe.streams);
    for (std::int64_t i = 0; sequential_ && i < probe.streams; ++i)
      streams_.push_back(places_.below(runs_));
  }

  Transaction next() {
    const bool write = read_share_ < 1 && directions_.uniform() >= read_share_;
    return {next_run() * atoms_of_run_, write};
  }

 private:
  std::uint64_t next_run() {
    if (!sequential_) return places_.below(runs_);
    const std::size_t i = streams_.size() == 1 ? 0 : places_.below(streams_.size());
    const std::uint64_t run = streams_[i];
    streams_[i] = run + 1 == runs_ ? 0 : run + 1;
    return run;
  }

  bool sequential_;
  double read_share_;
  std::uint64_t atoms_of_run_;
  std::uint64_t runs_;
  Rng places_;
  Rng directions_;
  std::vector<std::uint64_t> streams_;
};

}  // namespace tiersim
