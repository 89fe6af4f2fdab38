#include "hwmodels/compute/request_window.hpp"

#include <algorithm>

#include "hwmodels/limits.hpp"
#include "hwmodels/portions.hpp"

namespace tiersim {
namespace {

// The largest rate up to `most` at which the window covers the round trip; 0 where there is none.
std::int64_t rate_of(Bytes window, Bytes run, const RoundTrip& round_trip, std::int64_t most) {
  const auto covered = [&](std::int64_t rate) {
    const Int128 needed = Int128{rate} * round_trip.at(Bandwidth::from_base(rate), run).count();
    return needed <= Int128{window.in_base()} * kPicosecondsPerSecond;
  };
  if (covered(most)) return most;
  std::int64_t low = 0;
  std::int64_t high = most;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (covered(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

void describe(Fields& f, OutstandingRequests& c) {
  f.doc("Read requests that may wait for an answer at a time.");
  f.required("count", c.count, "How many: tags of a PCI Express requester.", outstanding_limits());
  f.required("size", c.size, "Largest of them; a run that is shorter takes a whole one.",
             packet_limits());
}

RequestWindow::RequestWindow(std::optional<Bytes> in_flight,
                             const std::optional<OutstandingRequests>& requests)
    : in_flight_(in_flight) {
  if (!requests) return;
  count_ = requests->count.value;
  size_ = requests->size.value;
}

Duration RequestWindow::time(Bytes payload, Bytes run, const RoundTrip& round_trip,
                             Bandwidth most) const {
  const bool own = round_trip.window > Bytes{};
  if (!in_flight_ && !count_ && !own) return {};
  Bytes window = own ? round_trip.window : count_ ? std::min(run, size_) * *count_ : *in_flight_;
  if (count_) window = std::min(window, std::min(run, size_) * *count_);
  if (in_flight_) window = std::min(window, *in_flight_);
  const std::int64_t rate = rate_of(window, run, round_trip, most.in_base());
  const Duration trip = round_trip.at(Bandwidth::from_base(rate), run);
  // Where the latency steps up right above the rate, that step is the limit rather than the window.
  // This bound ensures that a larger window never takes longer.
  const Duration least =
      rate < most.in_base() ? payload / Bandwidth::from_base(rate + 1) : Duration{};
  return std::max(portions_time(trip, payload.in_base(), window.in_base()), least);
}

}  // namespace tiersim
