#pragma once
// Queues of a switch input.
#include <array>
#include <cstdint>
#include <string_view>

namespace tiersim {

/// `virtual_output`: a queue for each output. `fifo`: one queue, where a packet whose output is
/// blocked stops those behind it (head-of-line blocking).
enum class SwitchQueues : std::uint8_t { virtual_output, fifo };
inline constexpr std::array<std::string_view, 2> kSwitchQueuesNames{"virtual_output", "fifo"};

}  // namespace tiersim
