#include "workloads/numerics/maple_statements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

// Up to a thousand weights of total 1 summed in another order: 1000 roundings of 2^-53.
constexpr double kSumRounding = 1000 * 0x1p-53;

// A loss is a difference of sums of about its power, each accurate to 1e-15 of it (Gram matrices of
// a few thousand rows, random roundings).
constexpr double kLossRounding = 1e-14;

// For a hidden state of 0, both error and bound are 0.
double worst_share(const RowVector& error, const RowVector& bound) {
  double worst = 0;
  for (Index i = 0; i < error.size(); ++i) {
    TS_EXPECTS(std::isfinite(error(i)) && std::isfinite(bound(i)), error(i), bound(i));
    if (error(i) > 0) worst = std::max(worst, error(i) / bound(i));
  }
  return worst;
}

}  // namespace

Statement oracle_is_best(const std::vector<SweepPoint>& points) {
  Statement out{.id = "selection.oracle_is_best",
                .says =
                    "no method has more recall or attention than the rows with the highest "
                    "scores, at any position and budget",
                .source = "softmax rises with the score",
                .found = {},
                .exact = true,
                .holds = true};
  std::size_t compared = 0;
  double closest = std::numeric_limits<double>::infinity();
  for (const SweepPoint& point : points) {
    const auto best = std::ranges::find_if(
        points, [&](const SweepPoint& p) { return p.name == "oracle" && p.share == point.share; });
    TS_EXPECTS(best != points.end(), point.share);
    if (point.name == "oracle") continue;
    for (std::size_t h = 0; h < point.heads.size(); ++h)
      for (std::size_t i = 0; i < point.heads[h].size(); ++i, ++compared) {
        const Quality& one = point.heads[h][i];
        const Quality& top = best->heads[h][i];
        closest = std::min(closest, top.mass - one.mass);
        out.holds =
            out.holds && top.recall == 1 && one.recall <= 1 && one.mass <= top.mass + kSumRounding;
      }
  }
  out.found = fmt::format("{} choices; least lead in attention {:.2g}", compared, closest);
  return out;
}

Statement full_rank_is_exact(const std::string& id, const std::string& says,
                             const std::string& source, const SweepPoint& point) {
  double least = 1;
  std::size_t choices = 0;
  for (const auto& head : point.heads)
    for (const Quality& one : head) {
      least = std::min(least, one.recall);
      ++choices;
    }
  return {.id = id,
          .says = says,
          .source = source,
          .found = fmt::format("least recall {} of {} choices", least, choices),
          .exact = true,
          .holds = least == 1};
}

Statement recall_rises(const std::vector<std::vector<SweepPoint>>& by_rank) {
  Statement out{.id = "selection.recall_rises_with_rank",
                .says =
                    "recall does not fall as more is screened (MAPLE in float64 and Loki by "
                    "rank, SparQ by components, Quest by smaller pages), on average over heads",
                .source =
                    "more of the score is seen; slack: three standard errors of the paired "
                    "difference over heads",
                .found = {},
                .exact = false,
                .holds = true};
  double least = std::numeric_limits<double>::infinity();
  std::string where;
  for (const auto& points : by_rank)
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto step = paired_difference(points[i - 1].recalls(), points[i].recalls());
      out.holds = out.holds && step.mean >= -3 * step.standard_error;
      if (step.mean >= least) continue;
      least = step.mean;
      where = fmt::format("{} {} to {}: {:+.3f}, standard error {:.3f}", points[i].name,
                          points[i - 1].setting, points[i].setting, step.mean, step.standard_error);
    }
  out.found = "smallest step " + where;
  return out;
}

Statement random_recall_is_the_share(const std::vector<SweepPoint>& random,
                                     const std::vector<HeadCase>& heads) {
  Statement out{.id = "selection.random_floor",
                .says = "rows drawn without looking have the share of rows as recall",
                .source = "hypergeometric law; slack: four standard deviations of the mean",
                .found = {},
                .exact = false,
                .holds = true};
  double worst = 0;
  for (const SweepPoint& point : random) {
    // B of n rows drawn, B of them right: B^2/n on average, variance B (B/n) (1-B/n) (n-B)/(n-1).
    double expected = 0;
    double variance = 0;
    double recall = 0;
    double count = 0;
    for (std::size_t h = 0; h < heads.size(); ++h)
      for (std::size_t i = 0; i < heads[h].exact.size(); ++i, ++count) {
        const double n = static_cast<double>(heads[h].exact[i].position + 1);
        const double b = static_cast<double>(rows_of(point.share, static_cast<Index>(n)));
        expected += b / n;
        variance += (1 - b / n) * (n - b) / (n * (n - 1));
        recall += point.heads[h][i].recall;
      }
    const double off = variance == 0 ? 0 : std::abs(recall - expected) / std::sqrt(variance);
    worst = std::max(worst, off);
  }
  out.holds = worst <= 4;
  out.found =
      fmt::format("at most {:.2f} standard deviations off, {} budgets", worst, random.size());
  return out;
}

Statement distilled_beats_identity(const std::vector<HeadCase>& heads) {
  Statement out{.id = "maple.distilled_beats_identity",
                .says =
                    "the distilled matrices lose no more than the identity with its best "
                    "factor, on the tokens distilled on, at every rank",
                .source = "least squares: the identity is among what is minimised over",
                .found = {},
                .exact = true,
                .holds = true};
  double closest = 0;
  std::size_t fits = 0;
  for (const HeadCase& head : heads)
    for (const MapleFit& fit : head.maple) {
      out.holds = out.holds && fit.calibration_loss <= fit.identity_loss + kLossRounding;
      closest = std::max(closest, fit.calibration_loss / fit.identity_loss);
      ++fits;
    }
  out.found = fmt::format("{} fits; largest ratio of losses {:.3f}", fits, closest);
  return out;
}

Statement loss_falls_with_rank(const std::vector<HeadCase>& heads) {
  Statement out{.id = "maple.loss_falls_with_rank",
                .says = "the loss on the tokens distilled on does not rise with the rank",
                .source = "columns of P are nested, and so are matrices of rising rank",
                .found = {},
                .exact = true,
                .holds = true};
  double largest = 0;
  for (const HeadCase& head : heads)
    for (std::size_t i = 1; i < head.maple.size(); ++i) {
      const double before = head.maple[i - 1].calibration_loss;
      const double after = head.maple[i].calibration_loss;
      out.holds = out.holds && after <= before + kLossRounding;
      largest = std::max(largest, after / before);
    }
  out.found = fmt::format("from one rank to the next, at most {:.3f} of the loss is left", largest);
  return out;
}

Int8Cost int8_cost(const std::vector<HeadCase>& heads, std::size_t fit, double share) {
  Int8Cost out;
  double count = 0;
  for (const HeadCase& head : heads) {
    const Int8Screen& screen = head.maple.at(fit).screen;
    for (const ExactStep& step : head.exact) {
      const Index budget = rows_of(share, step.position + 1);
      const RowVector exact = screen.exact_scores(step.position);
      const RowVector whole = screen.integer_scores(step.position);
      const RowVector bound = screen.error_bound(step.position);
      const RowVector error = (whole * screen.unit(step.position) - exact).cwiseAbs();
      const std::vector<Index> before = highest(exact, budget);
      const std::vector<Index> after = highest(whole, budget);
      std::vector<Index> missed;
      std::ranges::set_difference(before, after, std::back_inserter(missed));
      const Index at_risk = rows_at_risk(exact, bound, budget);
      const double worst = worst_share(error, bound);
      out.within = out.within && worst <= 1 && std::ssize(missed) <= at_risk;
      out.worst_of_bound = std::max(out.worst_of_bound, worst);
      out.lost += static_cast<double>(missed.size()) / static_cast<double>(budget);
      out.at_risk += static_cast<double>(at_risk) / static_cast<double>(budget);
      ++count;
    }
  }
  out.lost /= count;
  out.at_risk /= count;
  return out;
}

Statement int8_within_bound(const std::vector<Int8Cost>& costs) {
  Statement out{.id = "maple.int8_within_bound",
                .says =
                    "eight bits move no score by more than the rounding bound, and miss no more "
                    "of the float64 choice than rows that the bound puts in reach of another",
                .source = "rounding to nearest, term by term (maple_int8.hpp)",
                .found = {},
                .exact = true,
                .holds = true};
  double worst = 0;
  double lost = 0;
  double at_risk = 0;
  for (const Int8Cost& cost : costs) {
    out.holds = out.holds && cost.within;
    worst = std::max(worst, cost.worst_of_bound);
    lost = std::max(lost, cost.lost);
    at_risk = std::max(at_risk, cost.at_risk);
  }
  out.found = fmt::format(
      "largest error {:.2f} of its bound; over ranks, at most {:.1f} % of the choice lost on "
      "average, {:.1f} % in reach",
      worst, 100 * lost, 100 * at_risk);
  return out;
}

Statement needles_need_the_whole_cache(const std::vector<NeedleResult>& results) {
  Statement out{.id = "selection.needles_need_the_whole_cache",
                .says =
                    "of tokens that nothing looked at until one query asks for each, methods "
                    "that keep every row and screen all of the score choose every one, and "
                    "methods that have evicted them none",
                .source = "MAPLE, sections 1 and 2.1; by construction (needle_text.hpp)",
                .found = {},
                .exact = true,
                .holds = true};
  for (const NeedleResult& result : results) {
    if (!result.evicts && !result.screens_exactly) continue;
    out.holds = out.holds && result.found == (result.evicts ? 0 : kNeedles);
    out.found += fmt::format("{}{} {}", out.found.empty() ? "" : ", ", result.name, result.found);
  }
  out.found += fmt::format(" of {}", kNeedles);
  return out;
}

}  // namespace tiersim::numerics
