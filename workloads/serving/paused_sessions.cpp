#include "workloads/serving/paused_sessions.hpp"

#include "sim/base/check.hpp"

namespace tiersim {

bool PausedSessions::keep(const SessionPlace& place, const PrefixEntries& entries, SimTime now) {
  const Agent agent{place.session, place.agent};
  TS_EXPECTS(!numbers_.contains(agent), place.session, place.agent);
  std::int64_t more = 0;
  for (const PrefixEntry& entry : entries)
    if (!sessions_of_.contains(entry.key())) more += entry.blocks;
  if (entries.empty() || blocks_ + more > limits_.blocks) return false;
  for (const PrefixEntry& entry : entries) ++sessions_of_[entry.key()];
  blocks_ += more;
  numbers_.emplace(agent, next_);
  paused_.emplace(next_++, Paused{agent, now, entries});
  return true;
}

PrefixEntries PausedSessions::take(ByAge::iterator at) {
  PrefixEntries entries = std::move(at->second.entries);
  for (const PrefixEntry& entry : entries) {
    const auto of = sessions_of_.find(entry.key());
    if (--of->second > 0) continue;
    sessions_of_.erase(of);
    blocks_ -= entry.blocks;
  }
  numbers_.erase(at->second.agent);
  paused_.erase(at);
  return entries;
}

std::optional<PrefixEntries> PausedSessions::take(const SessionPlace& place) {
  const auto number = numbers_.find({place.session, place.agent});
  if (number == numbers_.end()) return std::nullopt;
  return take(paused_.find(number->second));
}

std::optional<PrefixEntries> PausedSessions::take_ended(SimTime now) {
  if (paused_.empty() || now - paused_.begin()->second.since < limits_.time) return std::nullopt;
  return take(paused_.begin());
}

PrefixEntries PausedSessions::entries() const {
  PrefixEntries out;
  for (const auto& [number, paused] : paused_)
    out.insert(out.end(), paused.entries.begin(), paused.entries.end());
  return out;
}

std::optional<PrefixEntries> PausedSessions::take_first() {
  if (paused_.empty()) return std::nullopt;
  return take(paused_.begin());
}

}  // namespace tiersim
