#include "hwmodels/packet/dram/dram_streams.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

constexpr Bytes kPiece = Bytes::from_base(4096);
constexpr std::int64_t kStreams = 16;
constexpr std::int64_t kAtomsInFlight = 4096;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

DramStreams::DramStreams(Engine& engine, const DramPacketConfig& config, double share,
                         double write_limit)
    : engine_(engine),
      clocks_(config.timings),
      map_(*AddressMap::make(config.address_map)),
      shape_(map_),
      atom_(config.atom.value),
      share_(share) {
  TS_EXPECTS(share > 0 && share <= 1, share);
  if (write_limit > 0)
    clocks_of_written_atom_ = static_cast<double>(clocks_.burst) /
                              (write_limit * static_cast<double>(shape_.pseudo_channels));
  channels_.reserve(shape_.pseudo_channels);
  for (std::size_t i = 0; i < shape_.pseudo_channels; ++i)
    channels_.emplace_back(clocks_, shape_, config.scheduler);
}

// Pieces of at most 4 KiB; where a run is cut, its rest counts as a share of a piece.
DramStreams::Part DramStreams::part_of(const PacketAccess& access) {
  const Bytes all = atom_ * (std::int64_t{1} << static_cast<unsigned>(map_.bits()));
  const Bytes piece = std::min(kPiece, all);
  const bool cut = access.run > piece;
  const Bytes run = std::min(access.run, piece);
  const std::int64_t atoms_of_run = ceil_div(run.in_base(), atom_.in_base());
  const std::int64_t runs = ceil_div(access.payload.in_base(), run.in_base());
  const Bytes here = scale_up(Bytes::from_base(runs), share_);  // a number of runs
  const DramProbe probe{.pattern = cut ? DramPattern::sequential : DramPattern::random,
                        .streams = kStreams,
                        .run = run,
                        .seed = ++accesses_};
  return {.write = access.direction == Direction::write,
          .atoms_of_run = atoms_of_run,
          .runs = std::max<std::int64_t>(1, here.in_base()),
          .issued = 0,
          .places = DramWorkload(probe, atoms_of_run, map_.bits())};
}

void DramStreams::start(const PacketWork& work, EventHandler& done, std::uint64_t tag) {
  TS_EXPECTS(!work.accesses.empty());
  if (free_jobs_.empty()) {
    free_jobs_.push_back(jobs_.size());
    jobs_.emplace_back();
  }
  const std::size_t index = free_jobs_.back();
  free_jobs_.pop_back();
  const std::int64_t now = ceil_div(engine_.now().time_since_epoch().count(), clocks_.period_ps);
  Job job;
  job.began = std::max(now, horizon_);
  job.spread = work.spread.count() / clocks_.period_ps;
  job.done = &done;
  job.tag = tag;
  for (const PacketAccess& access : work.accesses) {
    TS_EXPECTS(access.payload.in_base() > 0 && access.run.in_base() > 0, access.payload);
    job.parts.push_back(part_of(access));
    job.atoms += job.parts.back().runs * job.parts.back().atoms_of_run;
  }
  job.told = true;
  jobs_[index] = std::move(job);
  ++running_;
  add_due(jobs_[index].began, index, false);
  wake(jobs_[index].began);
}

void DramStreams::wake(std::int64_t clock) {
  if (wake_at_ >= 0 && wake_at_ <= clock) return;
  wake_at_ = clock;
  engine_.schedule(std::max(engine_.now(), at(clock)), *this, static_cast<std::uint64_t>(clock));
}

// A completion comes at least one response after its command, so the channels may run that far
// ahead of the issued atoms.
void DramStreams::on_event(Engine&, std::uint64_t payload) {
  if (static_cast<std::int64_t>(payload) != wake_at_) return;  // an earlier event took its place
  const std::int64_t begin = wake_at_;
  wake_at_ = -1;
  horizon_ = begin + channels_.front().response();
  while (!due_.empty() && due_.top().at < horizon_) {
    const Due due = due_.top();
    due_.pop();
    const std::int64_t clock = std::max(due.at, begin);
    std::size_t job = due.index;
    if (due.run) {
      job = open_[due.index].job;
      end_run(due.index, due.at);
    } else {
      jobs_[job].told = false;
    }
    if (jobs_[job].done != nullptr) issue(job, clock);
  }
  for (PseudoChannel& channel : channels_) channel.run_until(horizon_, done_);
  settle();
  if (running_ == 0) return;
  const bool waits = std::ranges::all_of(
      channels_, [](const PseudoChannel& channel) { return channel.in_flight() == 0; });
  wake(waits && !due_.empty() ? std::max(horizon_, due_.top().at) : horizon_);
}

// Issues as many runs as the job's window and pace allow.
void DramStreams::issue(std::size_t index, std::int64_t clock) {
  while (jobs_[index].issued < jobs_[index].atoms) {
    Job& job = jobs_[index];
    if (job.issued - job.ended >= kAtomsInFlight) return;  // the end of a run lets the job go on
    const auto paced = static_cast<std::int64_t>(Int128{job.spread} * job.issued / job.atoms);
    std::int64_t from = job.began + paced;
    // The part that is furthest behind: the smallest issued / runs.
    Part* next = nullptr;
    for (Part& part : job.parts) {
      if (part.issued == part.runs) continue;
      if (!next || Int128{part.issued} * next->runs < Int128{next->issued} * part.runs)
        next = &part;
    }
    if (next->write) from = std::max(from, static_cast<std::int64_t>(std::ceil(write_from_)));
    if (from > clock) {
      if (!job.told) add_due(from, index, false);
      job.told = true;
      return;
    }
    issue_run(index, *next, clock);
  }
}

void DramStreams::issue_run(std::size_t job, Part& part, std::int64_t clock) {
  ++part.issued;
  const std::int64_t atoms = part.atoms_of_run;
  jobs_[job].issued += atoms;
  if (part.write)
    write_from_ = std::max(write_from_, static_cast<double>(clock - clocks_.refi)) +
                  clocks_of_written_atom_ * static_cast<double>(atoms);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(open_.size()));
    open_.emplace_back();
  }
  const std::uint32_t tag = free_.back();
  free_.pop_back();
  open_[tag] = {job, atoms, atoms, 0};
  const std::uint64_t first = part.places.next().first_atom;
  for (std::int64_t i = 0; i < atoms; ++i) {
    const DramPlace place = map_.place(first + static_cast<std::uint64_t>(i));
    PseudoChannel& channel = channels_[shape_.flat_channel(place)];
    channel.run_until(clock, done_);
    channel.push({.arrival = clock,
                  .row = place[static_cast<std::size_t>(DramField::row)],
                  .bank = static_cast<std::uint16_t>(shape_.flat_bank(place)),
                  .write = part.write,
                  .tag = tag},
                 done_);
  }
  settle();
}

void DramStreams::settle() {
  for (const DramDone& done : done_) {
    Open& run = open_[done.tag];
    run.last = std::max(run.last, done.at);
    if (--run.left == 0) add_due(run.last, done.tag, true);
  }
  done_.clear();
}

void DramStreams::end_run(std::size_t run, std::int64_t clock) {
  Job& job = jobs_[open_[run].job];
  job.ended += open_[run].atoms;
  free_.push_back(static_cast<std::uint32_t>(run));
  if (job.ended < job.atoms) return;
  engine_.schedule(std::max(engine_.now(), at(clock)), *job.done, job.tag);
  job.done = nullptr;
  free_jobs_.push_back(open_[run].job);
  --running_;
}

DramCounts DramStreams::counts() const {
  DramCounts sum;
  for (const PseudoChannel& channel : channels_) {
    const DramCounts& c = channel.counts();
    sum.pushed += c.pushed;
    sum.reads += c.reads;
    sum.writes += c.writes;
    sum.hits += c.hits;
    sum.activates += c.activates;
    sum.refreshes += c.refreshes;
    sum.turnarounds += c.turnarounds;
  }
  return sum;
}

}  // namespace tiersim
