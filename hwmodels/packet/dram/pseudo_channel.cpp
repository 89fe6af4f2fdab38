#include "hwmodels/packet/dram/pseudo_channel.hpp"

#include <algorithm>

namespace tiersim {

PseudoChannel::PseudoChannel(const DramClocks& clocks, const DramShape& shape,
                             const DramScheduler& scheduler, DramTrace* trace)
    : clocks_(clocks),
      scheduler_(scheduler),
      max_age_((scheduler.max_age.count() + clocks.period_ps - 1) / clocks.period_ps),
      banks_of_rank_(shape.groups * shape.banks_of_group),
      banks_(shape.banks()),
      ranks_(shape.ranks),
      groups_(shape.ranks * shape.groups),
      reads_(static_cast<std::size_t>(scheduler.window), shape.banks()),
      writes_(static_cast<std::size_t>(scheduler.write_buffer), shape.banks()),
      trace_(trace) {
  for (std::size_t b = 0; b < banks_.size(); ++b) {
    banks_[b].rank = static_cast<std::uint32_t>(b / banks_of_rank_);
    banks_[b].group = static_cast<std::uint32_t>(b / shape.banks_of_group);
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) schedule_refresh(r);
}

void PseudoChannel::push(const DramAtom& atom, std::vector<DramDone>& done) {
  TS_EXPECTS(atom.bank < banks_.size(), atom.bank);
  ++counts_.pushed;
  now_ = std::max(now_, atom.arrival);
  AtomWindow& window = atom.write ? writes_ : reads_;
  if (!window.push(atom, banks_[atom.bank].open_row)) return;  // the decision cannot change
  if (atom.write) done.push_back({atom.arrival + response(), atom.tag});
  decided_ = false;
}

std::int64_t PseudoChannel::next() {
  if (!decided_) decide();
  return next_;
}

// Reads have priority. Writes go during a drain, and while no read waits.
void PseudoChannel::choose_direction() {
  const auto held = static_cast<std::int64_t>(writes_.size());
  if (draining_ && (held == 0 || (held <= scheduler_.write_low && !reads_.empty())))
    draining_ = false;
  if (!draining_ && held >= scheduler_.write_high) draining_ = true;
  writing_ = draining_ || (reads_.empty() && held > 0);
}

void PseudoChannel::decide() {
  decided_ = true;
  refresh_next_ = false;
  next_ = kNever;
  if (reads_.empty() && writes_.empty()) return;
  choose_direction();
  choice_ = best(writing_ ? writes_ : reads_, writing_);
  next_ = choice_.column;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].refresh_due > next_) continue;
    next_ = ranks_[r].refresh_due;
    refresh_rank_ = r;
    refresh_next_ = true;
  }
}

inline std::int64_t PseudoChannel::activation(const Bank& bank, std::int64_t visible) const {
  const Rank& rank = ranks_[bank.rank];
  const std::int64_t precharge = bank.open_row >= 0 ? clocks_.rp : 0;
  std::int64_t at =
      std::max({bank.activate_at, visible + precharge, rank.activate_at, row_bus_at_,
                rank.four_activates[rank.oldest] + clocks_.faw, groups_[bank.group].activate_at});
  if (scheduler_.refresh == DramRefresh::per_bank) {
    // The last refreshes of single banks, oldest first. The newest may lie in the future; older
    // ones than these are not kept.
    at = std::max(at, rank.bank_refreshes[0] + clocks_.rrefd);
    for (const std::int64_t refreshed : rank.bank_refreshes)
      if (at > refreshed - clocks_.rrd_s && at < refreshed + clocks_.rrefd)
        at = refreshed + clocks_.rrefd;
  }
  return at;
}

PseudoChannel::Choice PseudoChannel::best(const AtomWindow& window, bool write) const {
  std::int64_t floor = kNever;
  std::int64_t first_activate = kNever;
  for (const Rank& r : ranks_) {
    floor = std::min(floor, write ? r.write_at : r.read_at);
    first_activate = std::min(first_activate, r.activate_at);
  }
  floor = std::max(floor, now_);
  const std::int64_t to_column = write ? clocks_.rcd_wr : clocks_.rcd;
  const bool oldest_is_due = window.at(0).visible + max_age_ <= floor;
  std::size_t hits_left = window.hits();
  std::array<std::uint64_t, kDramBanksMost / 64> seen{};
  Choice best;
  for (std::size_t i = 0; i < window.size(); ++i) {
    // For each bank the oldest hit, or else the oldest atom, is the earliest.
    const std::size_t b = window.bank(i);
    const std::uint64_t bit = std::uint64_t{1} << (b & 63U);
    if ((seen[b >> 6U] & bit) != 0) continue;
    const AtomWindow::Slot& slot = window.at(i);
    const Bank& bank = banks_[b];
    const bool hit = bank.open_row == slot.atom.row;
    const bool forced = i == 0 && oldest_is_due;
    if (!hit && window.hits(b) > 0 && !forced) continue;
    seen[b >> 6U] |= bit;
    const Rank& rank = ranks_[bank.rank];
    const Group& group = groups_[bank.group];
    std::int64_t column =
        write ? std::max(rank.write_at, group.write_at) : std::max(rank.read_at, group.read_at);
    std::int64_t activate = -1;
    if (hit) {
      hits_left -= window.hits(b);
      column = std::max({column, write ? bank.write_at : bank.read_at, slot.visible, now_});
    } else {
      activate = activation(bank, slot.visible);
      column = std::max({column, activate + to_column, now_});
    }
    if (column < best.column) best = {column, activate, i};
    // No later atom can be earlier.
    const bool earliest =
        best.column <= floor || (hits_left == 0 && best.column <= first_activate + to_column);
    if (earliest || forced) break;
  }
  return best;
}

void PseudoChannel::serve(std::vector<DramDone>& done) {
  TS_EXPECTS(decided_ && next_ != kNever);
  decided_ = false;
  if (refresh_next_) {
    refresh();
    return;
  }
  AtomWindow& window = writing_ ? writes_ : reads_;
  const AtomWindow::Slot slot = window.at(choice_.position);
  const std::size_t bank = slot.atom.bank;
  const bool hit = choice_.activate < 0;
  if (!hit) open_row(bank, choice_, slot.atom.row);
  record(writing_ ? DramCommandKind::write : DramCommandKind::read, choice_.column, bank,
         slot.atom.row);
  window.remove(choice_.position, true);
  now_ = choice_.column;
  column_command(bank, choice_.column, writing_);
  counts_.hits += hit;
  ++(writing_ ? counts_.writes : counts_.reads);
  if (!writing_) done.push_back({choice_.column + response(), slot.atom.tag});
  if (window.waiting() > 0) {
    const DramAtom& atom = window.next_waiting();
    const std::int64_t visible = std::max(choice_.column, atom.arrival);
    if (writing_) done.push_back({visible + response(), atom.tag});
    window.admit_waiting(visible, banks_[atom.bank].open_row);
  }
  close_if_idle(bank);
}

void PseudoChannel::open_row(std::size_t b, const Choice& choice, std::int64_t row) {
  Bank& bank = banks_[b];
  Rank& rank = ranks_[bank.rank];
  const std::int64_t at = choice.activate;
  if (bank.open_row >= 0) record(DramCommandKind::precharge, at - clocks_.rp, b);
  record(DramCommandKind::activate, at, b, row);
  ++counts_.activates;
  bank.open_row = row;
  bank.activated_at = at;
  bank.read_at = at + clocks_.rcd;
  bank.write_at = at + clocks_.rcd_wr;
  if (clocks_.row > 0) row_bus_at_ = at + clocks_.row;
  bank.precharge_at = at + clocks_.ras;
  rank.four_activates[rank.oldest] = at;
  rank.oldest = (rank.oldest + 1) & 3U;
  rank.activate_at = std::max(at + clocks_.rrd_s, rank.four_activates[rank.oldest] + clocks_.faw);
  groups_[bank.group].activate_at = at + clocks_.rrd_l;
  reads_.opened(b, row);
  writes_.opened(b, row);
}

void PseudoChannel::column_command(std::size_t b, std::int64_t at, bool write) {
  Bank& bank = banks_[b];
  Group& group = groups_[bank.group];
  const std::int64_t data_end = at + (write ? clocks_.cwl : clocks_.cl) + clocks_.burst;
  bank.precharge_at = std::max(bank.precharge_at, write ? data_end + clocks_.wr : at + clocks_.rtp);
  bank.activate_at = std::max(bank.precharge_at + clocks_.rp, bank.activated_at + clocks_.rc);
  const std::int64_t same = at + std::max(clocks_.ccd_s, clocks_.burst);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const bool own = r == bank.rank;
    // Another rank is limited by the data bus only; commands stay in order.
    const std::int64_t bus = data_end + (own ? 0 : clocks_.cs);
    const std::int64_t next_read = write ? (own ? data_end + clocks_.wtr_s : bus - clocks_.cl)
                                         : (own ? same : bus - clocks_.cl);
    const std::int64_t next_write =
        write ? (own ? same : bus - clocks_.cwl) : std::max(at + clocks_.rtw(), bus - clocks_.cwl);
    rank.read_at = std::max({rank.read_at, next_read, at + 1});
    rank.write_at = std::max({rank.write_at, next_write, at + 1});
  }
  if (write) {
    group.write_at = at + clocks_.ccd_l_wr;
    group.read_at = std::max(group.read_at, data_end + clocks_.wtr_l);
  } else {
    group.read_at = std::max(group.read_at, at + clocks_.ccd_l);
  }
  counts_.turnarounds += write != last_was_write_;
  last_was_write_ = write;
}

void PseudoChannel::close(std::size_t b, std::int64_t usable_at) {
  banks_[b].open_row = -1;
  banks_[b].activate_at = usable_at;
  reads_.opened(b, -1);
  writes_.opened(b, -1);
}

void PseudoChannel::close_if_idle(std::size_t b) {
  if (scheduler_.page_policy == DramPagePolicy::open) return;
  if (reads_.hits(b) > 0 || writes_.hits(b) > 0) return;
  record(DramCommandKind::precharge, banks_[b].precharge_at, b);
  close(b, banks_[b].activate_at);
}

}  // namespace tiersim
