#pragma once
// Metrics as readers of a page compare them: tokens/s of one GPU, and tokens a joule.
#include <cstddef>
#include <string>

#include "reports/html/points_view.hpp"

namespace tiersim {

/// "tokens/s a GPU", "tokens/J", "USD/Mtoken"; else the name and unit of the metric.
std::string shown_title(const MetricColumn& metric);
/// "12.3 [11.9, 12.8]" in the unit of the title; empty where the point has none.
std::string shown_value(const PointTable& table, const MetricColumn& metric, std::size_t point);

}  // namespace tiersim
