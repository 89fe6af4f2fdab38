// The time split of each point as a bar of characters. Bars show shares: on a common time scale the
// step at the longest context would leave no room for the shortest.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "reports/papers/studies/study_result.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kWidth = 60;

struct Part {
  std::string_view name;
  char letter;
};
constexpr std::array<Part, 6> kBarParts{{{"weights", 'W'},
                                         {"kv", 'K'},
                                         {"link_wait", 'L'},
                                         {"screening", 'S'},
                                         {"compute", 'C'},
                                         {"latency", '.'}}};

// Whole characters that sum to the width; the remainder goes to the largest fractions.
std::array<std::size_t, kBarParts.size()> lengths(
    const std::array<double, kBarParts.size()>& shares) {
  std::array<std::size_t, kBarParts.size()> out{};
  std::array<double, kBarParts.size()> rest{};
  for (std::size_t i = 0; i < kBarParts.size(); ++i) {
    const double exact = shares[i] * static_cast<double>(kWidth);
    out[i] = static_cast<std::size_t>(exact);
    rest[i] = exact - static_cast<double>(out[i]);
  }
  while (std::accumulate(out.begin(), out.end(), std::size_t{0}) < kWidth) {
    const auto most = static_cast<std::size_t>(std::ranges::max_element(rest) - rest.begin());
    ++out[most];
    rest[most] = -1;
  }
  return out;
}

std::string bar(const RunRecord& record) {
  std::array<double, kBarParts.size()> shares{};
  for (std::size_t i = 0; i < kBarParts.size(); ++i) {
    const Cell share = cell_of("share." + std::string(kBarParts[i].name), record);
    shares[i] = share.number().value_or(0);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum <= 0) return std::string(kWidth, ' ');
  for (double& share : shares) share /= sum;
  std::string out;
  const auto length = lengths(shares);
  for (std::size_t i = 0; i < kBarParts.size(); ++i)
    out += std::string(length[i], kBarParts[i].letter);
  return out;
}

}  // namespace

std::string bars_of(const StudyResult& result) {
  if (!result.study.bars) return "";
  std::size_t width = 0;
  for (const StudyRow& row : result.rows)
    width = std::max(width, display_width(join(row.point.labels, " ")));
  std::string out = heading(result.study) + ", shares of the step\n";
  for (const StudyRow& row : result.rows) {
    const std::string label = join(row.point.labels, " ");
    out += std::string(width - display_width(label), ' ') + label;
    if (row.record) {
      const Cell step = cell_of(column_of("step_time_s", row.record.get()), *row.record);
      out += fmt::format(" |{}| {}\n", bar(*row.record), step.shown());
    } else {
      out += " |" + row.problem + '\n';
    }
  }
  out += fmt::format(
      "{} W weights  K attention's keys and values  L waiting for the link  "
      "S screening  C arithmetic  . latency\n",
      std::string(width, ' '));
  return out;
}

}  // namespace tiersim
