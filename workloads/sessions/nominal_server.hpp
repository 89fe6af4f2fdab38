#pragma once
// Makes a trace of a source without a server model: every request is answered in a time of its own,
// as if nothing waited for anything else.
#include <cstdint>
#include <functional>

#include "workloads/serving/request.hpp"

namespace tiersim {

/// An answer of n tokens takes `first_token` + (n - 1) * `token`.
struct AnswerTime {
  Duration first_token{};
  Duration token{};

  Duration of(std::int64_t output_tokens) const;
};

/// Calls `each` with the first `most` requests in the order of arrival, those of equal times in the
/// order of their numbers. Returns how many there were. Memory grows with the requests under way.
std::int64_t replay(RequestSource& source, const AnswerTime& time, std::int64_t most,
                    const std::function<void(const Request&)>& each);

}  // namespace tiersim
