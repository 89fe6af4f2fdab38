#pragma once
// Bytes that a request engine keeps in flight, and the time of an access that they allow.
//   Equation  rate <= window / RTT(rate), where the window is the least of the bytes in flight and
//             outstanding * min(run, request), and RTT grows with the rate as the memory at the
//             end of the path states. The rate is the largest that fulfils this, found by
//             bisection on whole bytes a second, so every compiler finds the same.
//   Ignores   load of others on links and memory: each access sees the latency of its own rate;
//             the time that a request's own data take on the wire.
//   Disagrees with packets limited by what is outstanding: PCIe Gen5 by +0.1 % (64 B) to +0.8 %
//             (512 B requests), CXL lines by -0.4 to +1.4 %, at any number in flight.
//   Checked   tests/unit/hwmodels/requests_test.cpp, flow_against_packets_test.cpp
#include <optional>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"

namespace tiersim {

/// Limit on outstanding requests, such as PCI Express tags; both fields or none.
struct OutstandingRequests {
  Sourced<std::int64_t> count;
  Sourced<Bytes> size;
};
void describe(Fields& f, OutstandingRequests& c);

class RequestWindow {
 public:
  RequestWindow(std::optional<Bytes> in_flight, const std::optional<OutstandingRequests>& requests);

  /// Least time of `payload` in runs of `run` bytes on a path of bandwidth `most`; 0 where nothing
  /// limits the window. The access may have a smaller one.
  Duration time(Bytes payload, Bytes run, const RoundTrip& round_trip, Bandwidth most) const;

 private:
  std::optional<Bytes> in_flight_;
  std::optional<std::int64_t> count_;
  Bytes size_;
};

}  // namespace tiersim
