#include "hwmodels/packet/dram/dram_probe.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "hwmodels/packet/dram/dram_workload.hpp"

namespace tiersim {
namespace {

// Latencies that are kept for percentiles; longer runs keep every k-th transaction.
constexpr std::int64_t kSamplesMost = 1 << 18;

class Driver {
 public:
  Driver(const DramPacketConfig& config, const DramClocks& clocks, const AddressMap& map,
         const DramProbe& probe, std::vector<DramTrace>* traces)
      : clocks_(clocks),
        map_(map),
        shape_(map),
        probe_(probe),
        atoms_of_run_(round_up(probe.run, config.atom.value).in_base() /
                      config.atom.value.in_base()),
        transactions_((probe.atoms + atoms_of_run_ - 1) / atoms_of_run_),
        sample_every_((probe.atoms + kSamplesMost - 1) / kSamplesMost),
        workload_(probe, atoms_of_run_, map.bits()),
        area_(shape_.pseudo_channels),
        last_(shape_.pseudo_channels) {
    if (traces) traces->resize(shape_.pseudo_channels);
    channels_.reserve(shape_.pseudo_channels);
    for (std::size_t i = 0; i < shape_.pseudo_channels; ++i)
      channels_.emplace_back(clocks, shape_, config.scheduler, traces ? &(*traces)[i] : nullptr);
    peak_per_second_ = static_cast<double>(channel_peak(config).in_base()) *
                       static_cast<double>(shape_.pseudo_channels);
    atom_bytes_ = config.atom.value.in_base();
  }

  void run_closed();
  void run_poisson();
  DramProbeResult result();

 private:
  struct Open {
    std::int64_t arrival_ps, arrival;  // `arrival` is in clocks
    std::int64_t remaining, last;
    bool write;
  };
  struct Completion {
    std::int64_t at;
    std::uint32_t tag;
    bool operator>(const Completion& o) const { return at != o.at ? at > o.at : tag > o.tag; }
  };

  void start(std::int64_t arrival_ps);
  std::int64_t through_write_limit(std::int64_t arrival_ps, bool write);
  void advance(std::size_t channel, std::int64_t clock);
  void advance_all(std::int64_t clock) {
    for (std::size_t i = 0; i < channels_.size(); ++i) advance(i, clock);
  }
  void settle();
  void drain();

  DramClocks clocks_;
  const AddressMap& map_;
  DramShape shape_;
  DramProbe probe_;
  std::int64_t atoms_of_run_, transactions_, sample_every_;
  DramWorkload workload_;
  std::vector<PseudoChannel> channels_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  std::vector<DramDone> done_;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> complete_;
  std::vector<Duration> atom_latency_, transaction_latency_;
  std::vector<double> area_;
  std::vector<std::int64_t> last_;
  double peak_per_second_ = 0;
  std::int64_t atom_bytes_ = 0;
  std::int64_t started_ = 0;
  std::int64_t end_ = 0;
  double stay_ = 0;
  std::int64_t issued_ps_ = 0;  // arrival of the last transaction under a write limit
  double write_from_ps_ = 0;    // earliest arrival of the next write under it
  bool closed_ = false;
};

// Transactions keep their order, since a channel takes its atoms in the order of arrival.
std::int64_t Driver::through_write_limit(std::int64_t arrival_ps, bool write) {
  issued_ps_ = std::max(issued_ps_, arrival_ps);
  if (!write) return issued_ps_;
  const double bytes = static_cast<double>(atoms_of_run_ * atom_bytes_);
  issued_ps_ = std::max(issued_ps_, static_cast<std::int64_t>(std::ceil(write_from_ps_)));
  const auto back = static_cast<double>(clocks_.refi * clocks_.period_ps);
  write_from_ps_ = std::max(write_from_ps_, static_cast<double>(issued_ps_) - back) +
                   bytes / (probe_.write_limit * peak_per_second_) * 1e12;
  return issued_ps_;
}

void Driver::start(std::int64_t arrival_ps) {
  const DramWorkload::Transaction transaction = workload_.next();
  if (probe_.write_limit > 0) arrival_ps = through_write_limit(arrival_ps, transaction.write);
  std::uint32_t tag = static_cast<std::uint32_t>(open_.size());
  if (free_.empty()) {
    open_.emplace_back();
  } else {
    tag = free_.back();
    free_.pop_back();
  }
  const std::int64_t arrival = (arrival_ps + clocks_.period_ps - 1) / clocks_.period_ps;
  open_[tag] = {arrival_ps, arrival, atoms_of_run_, 0, transaction.write};
  ++started_;
  for (std::int64_t i = 0; i < atoms_of_run_; ++i) {
    const DramPlace place = map_.place(transaction.first_atom + static_cast<std::uint64_t>(i));
    const std::size_t channel = shape_.flat_channel(place);
    advance(channel, arrival);
    channels_[channel].push({.arrival = arrival,
                             .row = place[static_cast<std::size_t>(DramField::row)],
                             .bank = static_cast<std::uint16_t>(shape_.flat_bank(place)),
                             .write = transaction.write,
                             .tag = tag},
                            done_);
    stay_ -= static_cast<double>(arrival);
  }
}

// Integrates the number of atoms in the system, until their commands are sent.
void Driver::advance(std::size_t i, std::int64_t clock) {
  if (clock == last_[i]) return;  // atoms of one transaction
  PseudoChannel& channel = channels_[i];
  for (std::int64_t at = channel.next(); at < clock; at = channel.next()) {
    const std::int64_t now = std::max(at, last_[i]);
    area_[i] += static_cast<double>(channel.in_flight()) * static_cast<double>(now - last_[i]);
    last_[i] = now;
    const std::int64_t before = channel.counts().served();
    channel.serve(done_);
    if (channel.counts().served() == before) continue;
    stay_ += static_cast<double>(at + channel.response());
    end_ = std::max(end_, at + channel.response());
  }
  if (clock < PseudoChannel::kNever && clock > last_[i]) {
    area_[i] += static_cast<double>(channel.in_flight()) * static_cast<double>(clock - last_[i]);
    last_[i] = clock;
  }
  if (!done_.empty()) settle();
}

void Driver::settle() {
  for (const DramDone& done : done_) {
    Open& open = open_[done.tag];
    const Duration latency(done.at * clocks_.period_ps - open.arrival_ps);
    const bool sampled = !open.write && (sample_every_ == 1 || started_ % sample_every_ == 0);
    if (sampled) atom_latency_.push_back(latency);
    open.last = std::max(open.last, done.at);
    if (--open.remaining > 0) continue;
    if (sampled) transaction_latency_.emplace_back(open.last * clocks_.period_ps - open.arrival_ps);
    if (closed_)
      complete_.push({open.last, done.tag});
    else
      free_.push_back(done.tag);
  }
  done_.clear();
}

void Driver::drain() {
  advance_all(PseudoChannel::kNever);
  settle();
}

// A completion comes at least one response after its command, so channels may run that far ahead of
// each other.
void Driver::run_closed() {
  closed_ = true;
  const std::int64_t many = std::max<std::int64_t>(1, probe_.outstanding_atoms / atoms_of_run_);
  for (std::int64_t i = 0; i < many && started_ < transactions_; ++i) start(0);
  settle();
  const std::int64_t ahead = channels_[0].response();
  for (std::int64_t now = 0; started_ < transactions_; now += ahead) {
    while (!complete_.empty() && complete_.top().at < now + ahead && started_ < transactions_) {
      const Completion each = complete_.top();
      complete_.pop();
      free_.push_back(each.tag);
      start(each.at * clocks_.period_ps);
    }
    settle();
    advance_all(now + ahead);
  }
  drain();
}

void Driver::run_poisson() {
  Rng arrivals(probe_.seed, "dram.arrivals");
  const double run_bytes = static_cast<double>(atoms_of_run_ * atom_bytes_);
  const double mean_ps = run_bytes / (probe_.offered * peak_per_second_) * 1e12;
  double now = 0;
  while (started_ < transactions_) {
    now += arrivals.exponential(mean_ps);
    start(static_cast<std::int64_t>(now));
    settle();
  }
  drain();
}

DramProbeResult Driver::result() {
  DramProbeResult r;
  for (const PseudoChannel& channel : channels_) {
    const DramCounts& c = channel.counts();
    TS_ENSURES(channel.in_flight() == 0 && c.pushed == c.served(), c.pushed, c.served());
    r.counts.pushed += c.pushed;
    r.counts.reads += c.reads;
    r.counts.writes += c.writes;
    r.counts.hits += c.hits;
    r.counts.activates += c.activates;
    r.counts.refreshes += c.refreshes;
    r.counts.turnarounds += c.turnarounds;
  }
  const auto served = static_cast<double>(r.counts.served());
  r.elapsed = Duration(end_ * clocks_.period_ps);
  const double rate = served * static_cast<double>(atom_bytes_) / to_seconds(r.elapsed);
  r.achieved = rate / peak_per_second_;
  r.bandwidth = Bandwidth::from_base(static_cast<std::int64_t>(rate));
  r.atom = summarise(atom_latency_);
  r.transaction = summarise(transaction_latency_);
  double area = served * static_cast<double>(channels_[0].response());
  for (const double each : area_) area += each;
  r.mean_in_system = area / static_cast<double>(end_);
  r.mean_stay = stay_ / served;
  return r;
}

DramProbeResult run(const DramPacketConfig& config, const DramClocks& clocks,
                    const DramProbe& probe, std::vector<DramTrace>* traces) {
  const auto map = AddressMap::make(config.address_map);
  TS_EXPECTS(map.has_value());
  TS_EXPECTS(probe.atoms > 0 && probe.run.in_base() > 0, probe.atoms, probe.run);
  Driver driver(config, clocks, *map, probe, traces);
  if (probe.arrivals == DramArrivals::closed)
    driver.run_closed();
  else
    driver.run_poisson();
  return driver.result();
}

}  // namespace

DramProbeResult run_dram_probe(const DramPacketConfig& config, const DramProbe& probe) {
  return run(config, DramClocks(config.timings), probe, nullptr);
}

DramProbeResult run_dram_probe(const DramPacketConfig& config, const DramClocks& clocks,
                               const DramProbe& probe, std::vector<DramTrace>& traces) {
  return run(config, clocks, probe, &traces);
}

}  // namespace tiersim
