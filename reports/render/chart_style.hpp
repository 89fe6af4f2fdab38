#pragma once
// Sizes and colours common to all charts, in pixels.
#include <string_view>

#include "reports/render/svg_canvas.hpp"

namespace tiersim {

inline constexpr double kMargin = 16;  ///< around everything
inline constexpr double kTickSize = 10;
inline constexpr std::string_view kGrey = "#666666";
inline constexpr Stroke kFrame{.colour = "#444444", .width = 1};
inline constexpr Stroke kGrid{.colour = "#E4E4E4", .width = 1};
inline constexpr Stroke kGuide{.colour = "#777777", .width = 1};

}  // namespace tiersim
