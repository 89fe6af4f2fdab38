// Refresh of a pseudo channel. Ranks are refreshed in turn, so that they do not all stop together.
#include <algorithm>

#include "hwmodels/packet/dram/pseudo_channel.hpp"

namespace tiersim {

void PseudoChannel::schedule_refresh(std::size_t r) {
  if (scheduler_.refresh == DramRefresh::none) return;
  Rank& rank = ranks_[r];
  const auto ranks = static_cast<std::int64_t>(ranks_.size());
  const std::int64_t offset = clocks_.refi * static_cast<std::int64_t>(r) / ranks;
  const bool all = scheduler_.refresh == DramRefresh::all_bank;
  const std::int64_t each = all ? 1 : static_cast<std::int64_t>(banks_of_rank_);
  ++rank.refresh_count;
  rank.refresh_due = offset + rank.refresh_count * clocks_.refi / each;
}

void PseudoChannel::refresh() {
  ++counts_.refreshes;
  if (scheduler_.refresh == DramRefresh::all_bank)
    refresh_rank(refresh_rank_);
  else
    refresh_bank(refresh_rank_);
  schedule_refresh(refresh_rank_);
}

void PseudoChannel::refresh_rank(std::size_t r) {
  const std::size_t first = r * banks_of_rank_;
  std::int64_t at = ranks_[r].refresh_due;
  for (std::size_t b = first; b < first + banks_of_rank_; ++b)
    at = std::max(at, banks_[b].activate_at);
  for (std::size_t b = first; b < first + banks_of_rank_; ++b) {
    if (banks_[b].open_row >= 0) record(DramCommandKind::precharge, at - clocks_.rp, b);
    close(b, at + clocks_.rfc);
  }
  record(DramCommandKind::refresh, at, first);
}

void PseudoChannel::refresh_bank(std::size_t r) {
  Rank& rank = ranks_[r];
  const auto turn = static_cast<std::size_t>(rank.refresh_count - 1) % banks_of_rank_;
  const std::size_t b = r * banks_of_rank_ + turn;
  Bank& bank = banks_[b];
  const std::int64_t last_activate = rank.four_activates[(rank.oldest + 3) & 3U];
  const std::int64_t at =
      std::max({rank.refresh_due, bank.activate_at, last_activate + clocks_.rrd_s,
                rank.bank_refreshes[3] + clocks_.rrefd});
  if (bank.open_row >= 0) record(DramCommandKind::precharge, at - clocks_.rp, b);
  record(DramCommandKind::refresh_bank, at, b);
  close(b, at + clocks_.rfc_pb);
  std::copy(rank.bank_refreshes + 1, rank.bank_refreshes + 4, rank.bank_refreshes);
  rank.bank_refreshes[3] = at;
}

}  // namespace tiersim
