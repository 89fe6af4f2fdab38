#include "hwmodels/packet/dram/dram_checker.hpp"

#include <algorithm>
#include <array>

namespace tiersim {
namespace {

using Kind = DramCommandKind;
using enum DramScope;

constexpr std::size_t kKinds = 6;
constexpr std::int64_t kNeverBefore = std::numeric_limits<std::int64_t>::min() / 2;
constexpr std::size_t kListed = 20;
constexpr int kPostponedRefreshes = 8;  // the largest number that the standards allow

std::size_t index(Kind kind) {
  return static_cast<std::size_t>(kind);
}

// The last four times of each kind of command at one bank, group or rank.
class History {
 public:
  explicit History(std::size_t places)
      : times_(places * kKinds, Times{kNeverBefore, kNeverBefore, kNeverBefore, kNeverBefore}) {}
  std::int64_t last(std::size_t place, Kind kind, int count) const {
    return times_[place * kKinds + index(kind)][static_cast<std::size_t>(count - 1)];
  }
  void add(std::size_t place, Kind kind, std::int64_t at) {
    Times& times = times_[place * kKinds + index(kind)];
    std::copy_backward(times.begin(), times.end() - 1, times.end());
    times[0] = at;
  }

 private:
  using Times = std::array<std::int64_t, 4>;
  std::vector<Times> times_;
};

}  // namespace

std::vector<DramRule> dram_rules(const DramTimings& t) {
  const std::int64_t clock = t.t_ck.value.count();
  const auto whole = [clock](const Sourced<Duration>& time) {
    const std::int64_t ps = time.value.count();
    return ps % clock == 0 ? ps : ps - ps % clock + clock;
  };
  const std::int64_t written = whole(t.t_cwl) + whole(t.t_burst);
  return {
      {"tRCD", Kind::activate, Kind::read, bank, 1, whole(t.t_rcd)},
      {"tRCD", Kind::activate, Kind::write, bank, 1, whole(t.t_rcd_wr.value_or(t.t_rcd))},
      {"tRAS", Kind::activate, Kind::precharge, bank, 1, whole(t.t_ras)},
      {"tRC", Kind::activate, Kind::activate, bank, 1, whole(t.t_rc)},
      {"tRP", Kind::precharge, Kind::activate, bank, 1, whole(t.t_rp)},
      {"tRTP", Kind::read, Kind::precharge, bank, 1, whole(t.t_rtp)},
      {"tWR", Kind::write, Kind::precharge, bank, 1, written + whole(t.t_wr)},
      {"tCCD_L", Kind::read, Kind::read, group, 1, whole(t.t_ccd_l)},
      {"tCCD_L_WR", Kind::write, Kind::write, group, 1, whole(t.t_ccd_l_wr)},
      {"tCCD_S", Kind::read, Kind::read, rank, 1, whole(t.t_ccd_s)},
      {"tCCD_S", Kind::write, Kind::write, rank, 1, whole(t.t_ccd_s)},
      {"tWTR_L", Kind::write, Kind::read, group, 1, written + whole(t.t_wtr_l)},
      {"tWTR_S", Kind::write, Kind::read, rank, 1, written + whole(t.t_wtr_s)},
      {"tRRD_L", Kind::activate, Kind::activate, group, 1, whole(t.t_rrd_l)},
      {"tRRD_S", Kind::activate, Kind::activate, rank, 1, whole(t.t_rrd_s)},
      {"tFAW", Kind::activate, Kind::activate, rank, 4, whole(t.t_faw)},
      {"tROW", Kind::activate, Kind::activate, channel, 1, whole(t.t_row)},
      {"tRP", Kind::precharge, Kind::refresh, rank, 1, whole(t.t_rp)},
      {"tRC", Kind::activate, Kind::refresh, rank, 1, whole(t.t_rc)},
      {"tRFC", Kind::refresh, Kind::activate, rank, 1, whole(t.t_rfc)},
      {"tRFC", Kind::refresh, Kind::refresh, rank, 1, whole(t.t_rfc)},
      {"tRP", Kind::precharge, Kind::refresh_bank, bank, 1, whole(t.t_rp)},
      {"tRC", Kind::activate, Kind::refresh_bank, bank, 1, whole(t.t_rc)},
      {"tRFC_pb", Kind::refresh_bank, Kind::activate, bank, 1, whole(t.t_rfc_pb)},
      {"tRREFD", Kind::refresh_bank, Kind::activate, rank, 1, whole(t.t_rrefd)},
      {"tRREFD", Kind::refresh_bank, Kind::refresh_bank, rank, 1, whole(t.t_rrefd)},
      {"tRRD_S", Kind::activate, Kind::refresh_bank, rank, 1, whole(t.t_rrd_s)},
  };
}

DramChecker::DramChecker(const DramTimings& t, const DramShape& shape, DramRefresh refresh)
    : rules_(dram_rules(t)),
      ranks_(shape.ranks),
      groups_(shape.ranks * shape.groups),
      banks_(shape.banks()),
      refresh_(refresh) {
  const std::int64_t clock = t.t_ck.value.count();
  const auto whole = [clock](const Sourced<Duration>& time) {
    return (time.value.count() / clock + (time.value.count() % clock != 0)) * clock;
  };
  read_data_ps_ = whole(t.t_cl);
  write_data_ps_ = whole(t.t_cwl);
  burst_ps_ = whole(t.t_burst);
  gap_ps_ = whole(t.t_gap);
  switch_ps_ = whole(t.t_cs);
  refresh_every_ps_ = (kPostponedRefreshes + 1) * whole(t.t_refi);
}

namespace {

// One walk over a sorted trace.
class Walk {
 public:
  Walk(std::size_t ranks, std::size_t groups, std::size_t banks)
      : banks_(banks),
        groups_(groups),
        ranks_(ranks),
        channel_(1),
        open_(banks, -1),
        banks_of_group_(banks / groups),
        banks_of_rank_(banks / ranks) {}

  void command(const std::vector<DramRule>& rules, const DramCommand& c);
  void data(const DramCommand& c, std::int64_t start, std::int64_t burst, std::int64_t gap,
            std::int64_t rank_switch);
  void refreshed_in_time(const DramCommand& c, DramRefresh refresh, std::int64_t every);
  DramReport report;

 private:
  std::size_t place(DramScope scope, std::size_t b) const {
    switch (scope) {
      case bank:
        return b;
      case group:
        return b / banks_of_group_;
      case rank:
        return b / banks_of_rank_;
      case channel:
        break;
    }
    return 0;
  }
  History& history(DramScope scope) {
    switch (scope) {
      case bank:
        return banks_;
      case group:
        return groups_;
      case rank:
        return ranks_;
      case channel:
        break;
    }
    return channel_;
  }
  void violated(std::string_view rule, const DramCommand& c, std::int64_t missing) {
    ++report.violations;
    if (report.first.size() < kListed) report.first.push_back({rule, c, missing});
  }
  void row_state(const DramCommand& c);

  History banks_, groups_, ranks_, channel_;
  std::vector<std::int64_t> open_;
  std::size_t banks_of_group_, banks_of_rank_;
  std::int64_t data_end_ = kNeverBefore;
  std::int64_t column_at_ = kNeverBefore;
  std::size_t data_rank_ = 0;
  bool data_read_ = false;
};

void Walk::row_state(const DramCommand& c) {
  const std::int64_t open = open_[c.bank];
  const std::size_t first = place(rank, c.bank) * banks_of_rank_;
  switch (c.kind) {
    case Kind::activate:
      if (open >= 0) violated("ACT of an open bank", c, 0);
      open_[c.bank] = c.row;
      break;
    case Kind::precharge:
      if (open < 0) violated("PRE of a closed bank", c, 0);
      open_[c.bank] = -1;
      break;
    case Kind::read:
    case Kind::write:
      if (open != c.row) violated("RD or WR of another row", c, 0);
      break;
    case Kind::refresh:
      for (std::size_t b = first; b < first + banks_of_rank_; ++b)
        if (open_[b] >= 0) violated("REF with an open bank", c, 0);
      break;
    case Kind::refresh_bank:
      if (open >= 0) violated("REFpb of an open bank", c, 0);
      break;
  }
}

void Walk::command(const std::vector<DramRule>& rules, const DramCommand& c) {
  ++report.commands;
  for (const DramRule& rule : rules) {
    if (rule.after != c.kind) continue;
    const std::int64_t earliest =
        history(rule.scope).last(place(rule.scope, c.bank), rule.before, rule.count) +
        rule.least_ps;
    if (c.at_ps < earliest) violated(rule.name, c, earliest - c.at_ps);
  }
  row_state(c);
  for (const DramScope scope : {bank, group, rank, channel})
    history(scope).add(place(scope, c.bank), c.kind, c.at_ps);
}

void Walk::data(const DramCommand& c, std::int64_t start, std::int64_t burst, std::int64_t gap,
                std::int64_t rank_switch) {
  const bool read = c.kind == Kind::read;
  const std::size_t of_rank = place(rank, c.bank);
  if (c.at_ps <= column_at_) violated("one column command a clock", c, column_at_ - c.at_ps);
  column_at_ = c.at_ps;
  if (start < data_end_) {
    violated("data bus", c, data_end_ - start);
  } else if (of_rank != data_rank_ && start < data_end_ + rank_switch) {
    violated("tCS", c, data_end_ + rank_switch - start);
  } else if (data_read_ && !read && start < data_end_ + gap) {
    violated("tRTW", c, data_end_ + gap - start);
  }
  data_end_ = start + burst;
  data_rank_ = of_rank;
  data_read_ = read;
}

void Walk::refreshed_in_time(const DramCommand& c, DramRefresh refresh, std::int64_t every) {
  if (refresh == DramRefresh::none || c.kind != Kind::activate) return;
  const bool all = refresh == DramRefresh::all_bank;
  const std::int64_t last = all ? ranks_.last(place(rank, c.bank), Kind::refresh, 1)
                                : banks_.last(c.bank, Kind::refresh_bank, 1);
  const std::int64_t due = std::max<std::int64_t>(last, 0) + every;
  if (c.at_ps > due) violated("tREFI", c, 0);
}

}  // namespace

DramReport DramChecker::check(DramTrace trace) const {
  std::stable_sort(trace.begin(), trace.end(),
                   [](const DramCommand& a, const DramCommand& b) { return a.at_ps < b.at_ps; });
  Walk walk(ranks_, groups_, banks_);
  for (const DramCommand& c : trace) {
    walk.command(rules_, c);
    const bool read = c.kind == Kind::read;
    if (read || c.kind == Kind::write)
      walk.data(c, c.at_ps + (read ? read_data_ps_ : write_data_ps_), burst_ps_, gap_ps_,
                switch_ps_);
    walk.refreshed_in_time(c, refresh_, refresh_every_ps_);
  }
  return std::move(walk.report);
}

}  // namespace tiersim
