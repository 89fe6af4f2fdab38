#include "workloads/sessions/nominal_server.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tiersim {
namespace {

using Moment = std::pair<SimTime, std::int64_t>;  // with the number of the request

SimTime after(SimTime time, Duration by) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time.time_since_epoch().count(), by.count(), &sum))
    throw UnitOverflow();
  return SimTime(Duration(sum));
}

}  // namespace

Duration AnswerTime::of(std::int64_t output_tokens) const {
  const Int128 ps = Int128{first_token.count()} + Int128{token.count()} * (output_tokens - 1);
  if (ps > Int128{Duration::max().count()}) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(ps));
}

std::int64_t replay(RequestSource& source, const AnswerTime& time, std::int64_t most,
                    const std::function<void(const Request&)>& each) {
  std::map<Moment, Request> coming;   // by arrival
  std::map<Moment, Request> present;  // by end
  std::vector<Request> released;
  std::optional<Request> start = source.next();
  std::int64_t made = 0;
  const auto take_start = [&] {
    const Moment key{start->arrival, start->id};
    coming.emplace(key, *std::exchange(start, source.next()));
  };
  while (made < most && (start || !coming.empty() || !present.empty())) {
    if (start && (coming.empty() || start->arrival <= coming.begin()->first.first)) {
      take_start();
      continue;
    }
    // What ends first may release a request that arrives at once.
    if (!present.empty() &&
        (coming.empty() || present.begin()->first.first <= coming.begin()->first.first)) {
      const auto ended = present.extract(present.begin());
      source.after_completion(ended.mapped(), ended.key().first, released);
      for (Request& next : released) {
        const Moment key{next.arrival, next.id};
        coming.emplace(key, std::move(next));
      }
      released.clear();
      if (!start) start = source.next();
      continue;
    }
    auto arrived = coming.extract(coming.begin());
    each(arrived.mapped());
    ++made;
    const Moment key{after(arrived.key().first, time.of(arrived.mapped().output_tokens)),
                     arrived.mapped().id};
    present.emplace(key, std::move(arrived.mapped()));
  }
  return made;
}

}  // namespace tiersim
