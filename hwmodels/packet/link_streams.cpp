#include "hwmodels/packet/link_streams.hpp"

#include <algorithm>

#include "hwmodels/runs.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

LinkStreams::LinkStreams(Engine& engine, Bytes cut, Bytes atom)
    : engine_(engine),
      cut_(cut.in_base()),
      atom_(atom.in_base()),
      places_(1, "addresses of operations on a link") {
  TS_EXPECTS(atom_ > 0 && cut_ % atom_ == 0 && cut_ <= 32'768, cut, atom);
}

LinkStreams::Part LinkStreams::part_of(const PacketAccess& access, Duration beyond) const {
  TS_EXPECTS(access.payload.in_base() > 0 && access.run.in_base() > 0, access.payload, access.run);
  const Bytes run = std::min(access.run, access.payload);
  const Bytes bytes = Runs::of(access.payload, run).total([&](Bytes length) {
    return Bytes::from_base(whole_atoms(length.in_base()));
  });
  Part part{.access = {access.direction, access.payload, run},
            .bytes = bytes.in_base(),
            .left = access.payload.in_base(),
            .window = 0};
  part.window = window(part.access, beyond);
  TS_ENSURES(part.window > 0, part.window);
  return part;
}

void LinkStreams::start(const PacketWork& work, EventHandler& done, std::uint64_t tag) {
  TS_EXPECTS(!work.accesses.empty() && work.accesses.size() < 0x10000, work.accesses.size());
  Job job;
  job.began = job.last = engine_.now();
  job.spread = work.spread;
  job.beyond = work.beyond;
  job.from = work.from;
  job.done = &done;
  job.tag = tag;
  for (const PacketAccess& access : work.accesses) {
    job.parts.push_back(part_of(access, work.beyond));
    job.bytes += job.parts.back().bytes;
  }
  if (free_jobs_.empty()) {
    free_jobs_.push_back(jobs_.size());
    jobs_.emplace_back();
  }
  const std::size_t index = free_jobs_.back();
  free_jobs_.pop_back();
  jobs_[index] = std::move(job);
  issue(index);
}

void LinkStreams::on_event(Engine&, std::uint64_t job) {
  jobs_[job].told = false;
  issue(job);
}

// Issues as many pieces as the job's windows and pace allow.
void LinkStreams::issue(std::size_t index) {
  Job& job = jobs_[index];
  while (job.issued < job.bytes) {
    // The part that is furthest behind: the smallest issued / bytes.
    std::size_t next = job.parts.size();
    for (std::size_t i = 0; i < job.parts.size(); ++i) {
      const Part& part = job.parts[i];
      if (part.issued == part.bytes) continue;
      if (next == job.parts.size() ||
          Int128{part.issued} * job.parts[next].bytes < Int128{job.parts[next].issued} * part.bytes)
        next = i;
    }
    // The end of a piece lets the job go on.
    if (job.parts[next].in_flight >= job.parts[next].window) return;
    const auto paced =
        static_cast<std::int64_t>(Int128{job.spread.count()} * job.issued / job.bytes);
    const SimTime due = job.began + Duration(paced);
    if (due > engine_.now()) {
      if (!job.told) engine_.schedule(due, *this, index);
      job.told = true;
      return;
    }
    send(next_piece(index, next));
  }
}

LinkStreams::Piece LinkStreams::next_piece(std::size_t index, std::size_t which) {
  Job& job = jobs_[index];
  Part& part = job.parts[which];
  if (part.in_run == 0) {  // a run begins at a random place
    part.in_run = std::min(part.access.run.in_base(), part.left);
    const std::uint64_t places =
        (std::uint64_t{1} << (kJobShift - 1)) / static_cast<std::uint64_t>(cut_);
    part.next = places_.below(places) * static_cast<std::uint64_t>(cut_);
  }
  const std::int64_t payload = std::min(cut_, part.in_run);
  const std::int64_t size = whole_atoms(payload);
  constexpr std::uint64_t kOffset = (std::uint64_t{1} << kJobShift) - 1;
  const std::uint64_t address = std::uint64_t{index} << kJobShift | (part.next & kOffset);
  part.next += static_cast<std::uint64_t>(size);
  part.in_run -= payload;
  part.left -= payload;
  part.issued += size;
  job.issued += size;
  ++part.in_flight;
  const bool write = part.access.direction == Direction::write;
  const std::uint64_t name = std::uint64_t{write} << 63U | std::uint64_t{index} << 32U |
                             std::uint64_t{which} << 16U | static_cast<std::uint64_t>(size);
  return {name, address, Bytes::from_base(size), part.access.direction, job.from};
}

void LinkStreams::moved(std::size_t index, Bytes size, Duration later) {
  Job& job = jobs_[index];
  job.moved += size.in_base();
  job.last = std::max(job.last, engine_.now() + later);
  if (job.moved == job.bytes) engine_.schedule(job.last, *job.done, job.tag);
}

void LinkStreams::piece_ended(std::uint64_t name) {
  const std::size_t index = job_of_name(name);
  Job& job = jobs_[index];
  --job.parts[name >> 16U & 0xffffU].in_flight;
  job.ended += size_of_name(name).in_base();
  if (job.ended < job.bytes) return issue(index);
  TS_INVARIANT(job.moved == job.bytes, job.moved, job.bytes);
  job.parts.clear();
  free_jobs_.push_back(index);
}

LinkStreams::Behind::Behind(LinkStreams& streams, std::optional<Bandwidth> rate, Duration latency,
                            bool counts_writes)
    : streams_(streams), latency_(latency), counts_writes_(counts_writes) {
  if (rate) service_.emplace(*rate, Duration(0));
}

Duration LinkStreams::Behind::take(Engine& engine, const Request& request, SimTime arrives) {
  SimTime done = arrives;
  if (service_) done = service_->send(done, request.size).arrives;
  done += latency_;
  const std::size_t job = job_at(request.address);
  if (request.direction == Direction::read) return done - arrives + streams_.beyond(job);
  if (counts_writes_) streams_.moved(job, request.size, done - engine.now() + streams_.beyond(job));
  return done - arrives;
}

void LinkStreams::Behind::serve(Engine& engine, const Request& request, Client& client) {
  const SimTime done = engine.now() + take(engine, request, engine.now());
  engine.call_at(done, [&client, tag = request.tag] { client.served(tag); });
}

std::optional<Duration> LinkStreams::Behind::time_of(Engine& engine, const Request& request,
                                                     SimTime arrives) {
  const bool others_wait =
      request.direction == Direction::write && !counts_writes_ && service_.has_value();
  if (others_wait) return std::nullopt;
  return take(engine, request, arrives);
}

}  // namespace tiersim
