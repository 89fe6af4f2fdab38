#include "reports/points/missing_points.hpp"

#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {

void MissingPoints::add(const ReportPoint& point) {
  if (point.record)
    ++valueless;
  else if (point.failed)
    ++failed;
  else
    ++unfit;
}

std::string MissingPoints::text() const {
  std::vector<std::string> out;
  if (failed > 0) out.push_back(fmt::format("{} failed", failed));
  if (unfit > 0) out.push_back(fmt::format("{} {} not fit", unfit, unfit == 1 ? "does" : "do"));
  if (valueless > 0)
    out.push_back(fmt::format("{} {} no such value", valueless, valueless == 1 ? "has" : "have"));
  return join(out);
}

std::string points_text(std::size_t count) {
  return fmt::format("{} point{}", count, count == 1 ? "" : "s");
}

std::string short_problem(const std::string& problem) {
  constexpr std::size_t kMost = 200;
  return shortened(problem.substr(0, problem.find(';')), kMost);
}

}  // namespace tiersim
