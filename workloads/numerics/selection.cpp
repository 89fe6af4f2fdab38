#include "workloads/numerics/selection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "workloads/numerics/latent_transforms.hpp"

namespace tiersim::numerics {
namespace {

class Oracle final : public Selector {
 public:
  Choice choose(const DecodeStep& step) override {
    return {.rows = highest(step.logits, step.budget)};
  }
};

class Random final : public Selector {
 public:
  explicit Random(Rng rng) : rng_(rng) {}
  Choice choose(const DecodeStep& step) override {
    RowVector lots(step.position + 1);
    for (double& lot : lots) lot = rng_.uniform();
    return {.rows = highest(lots, step.budget)};
  }

 private:
  Rng rng_;
};

class ByScores final : public Selector {
 public:
  explicit ByScores(std::function<RowVector(Index)> scores) : scores_(std::move(scores)) {}
  Choice choose(const DecodeStep& step) override {
    return {.rows = highest(scores_(step.position), step.budget)};
  }

 private:
  std::function<RowVector(Index)> scores_;
};

class SparQ final : public Selector {
 public:
  SparQ(const AttentionSample& sample, Index components)
      : sample_(sample), components_(components) {
    TS_EXPECTS(components >= 1 && components <= sample.head_dim(), components);
  }

  Choice choose(const DecodeStep& step) override {
    const RowVector q = sample_.query(step.position);
    RowVector part = RowVector::Zero(q.size());
    for (const Index c : highest(q.cwiseAbs(), components_)) part(c) = q(c);
    const double whole = q.lpNorm<1>();
    const double dims = static_cast<double>(q.size());
    const double scale = whole == 0 ? 1 : std::sqrt(dims * part.lpNorm<1>() / whole);
    const RowVector scores = part * sample_.k.topRows(step.position + 1).transpose() / scale;
    const RowVector weights = softmax(scores);
    // Sorted by scores: weights may be equal (for example 0) where scores are not.
    Choice out{.rows = highest(scores, step.budget), .attended = 0};
    for (const Index row : out.rows) out.attended += weights(row);
    return out;
  }

 private:
  const AttentionSample& sample_;
  Index components_;
};

class Quest final : public Selector {
 public:
  Quest(const AttentionSample& sample, Index page) : sample_(sample), page_(page) {
    TS_EXPECTS(page >= 1, page);
    const Index pages = sample.tokens() / page;
    smallest_.resize(pages + 1, sample.head_dim());
    largest_.resize(pages + 1, sample.head_dim());
    for (Index p = 0; p < pages; ++p) set_bounds(p, p, (p + 1) * page);
  }

  Choice choose(const DecodeStep& step) override {
    const Index rows = step.position + 1;
    const Index full = rows / page_;
    const Index pages = full + (rows % page_ == 0 ? 0 : 1);
    Matrix smallest = smallest_.topRows(pages);
    Matrix largest = largest_.topRows(pages);
    if (pages > full) {  // the newest page, as far as it is filled
      const auto newest = sample_.k.middleRows(full * page_, rows - full * page_);
      smallest.row(full) = newest.colwise().minCoeff();
      largest.row(full) = newest.colwise().maxCoeff();
    }
    const RowVector q = sample_.query(step.position);
    const RowVector bounds =
        q.cwiseMax(0) * largest.transpose() + q.cwiseMin(0) * smallest.transpose();
    return {.rows = rows_of_best(bounds, rows, step.budget)};
  }

 private:
  void set_bounds(Index to, Index page, Index end) {
    const auto keys = sample_.k.middleRows(page * page_, end - page * page_);
    smallest_.row(to) = keys.colwise().minCoeff();
    largest_.row(to) = keys.colwise().maxCoeff();
  }

  // Takes pages in order of their bounds, highest first, until the budget is full.
  std::vector<Index> rows_of_best(const RowVector& bounds, Index rows, Index budget) const {
    std::vector<Index> order(static_cast<std::size_t>(bounds.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::sort(order, [&](Index a, Index b) {
      return bounds(a) != bounds(b) ? bounds(a) > bounds(b) : a < b;
    });
    std::vector<Index> out;
    for (const Index page : order)
      for (Index row = page * page_; row < std::min((page + 1) * page_, rows); ++row)
        if (std::ssize(out) < budget) out.push_back(row);
    std::ranges::sort(out);
    return out;
  }

  const AttentionSample& sample_;
  Index page_;
  Matrix smallest_;  // of full pages, page x head_dim
  Matrix largest_;
};

}  // namespace

SelectorPtr make_oracle() {
  return std::make_unique<Oracle>();
}

SelectorPtr make_random(Rng rng) {
  return std::make_unique<Random>(rng);
}

SelectorPtr make_by_scores(std::function<RowVector(Index position)> scores) {
  return std::make_unique<ByScores>(std::move(scores));
}

SelectorPtr make_sparq(const AttentionSample& sample, Index components) {
  return std::make_unique<SparQ>(sample, components);
}

Matrix key_basis(const Matrix& keys) {
  return principal_components(second_moment(keys.rowwise() - keys.colwise().mean()));
}

Vector variance_shares(const Matrix& keys, const Matrix& basis) {
  const Matrix centred = keys.rowwise() - keys.colwise().mean();
  const Vector variance = (centred * basis).colwise().squaredNorm().transpose();
  return variance / variance.sum();
}

SelectorPtr make_loki(const AttentionSample& sample, const Matrix& basis, Index rank) {
  TS_EXPECTS(rank >= 1 && rank <= basis.cols(), rank);
  const Matrix first = basis.leftCols(rank);
  return make_by_scores([q = Matrix(sample.q * first), k = Matrix(sample.k * first),
                         from = sample.first_query()](Index position) -> RowVector {
    return q.row(position - from) * k.topRows(position + 1).transpose();
  });
}

SelectorPtr make_quest(const AttentionSample& sample, Index page) {
  return std::make_unique<Quest>(sample, page);
}

}  // namespace tiersim::numerics
