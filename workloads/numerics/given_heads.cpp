#include "workloads/numerics/given_heads.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim::numerics {
namespace {

constexpr Index kMostDecoded = 48;
constexpr std::int64_t kLeastTokens = 64;
constexpr std::int64_t kLeastDim = 16;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// [heads, rows, columns], whether there are heads or not.
struct Block {
  explicit Block(const NpyArray& array)
      : values(array.values),
        heads(array.shape.size() == 3 ? array.shape[0] : 1),
        rows(array.shape[array.shape.size() - 2]),
        columns(array.shape.back()) {}

  Matrix head(std::int64_t index) const {
    return Eigen::Map<const RowMajor>(values.data() + index * rows * columns, rows, columns);
  }

  const std::vector<double>& values;
  std::int64_t heads, rows, columns;
};

class Check {
 public:
  template <class... Values>
  void unless(bool good, ArrayName array, fmt::format_string<Values...> text, Values&&... values) {
    if (!good) problems.push_back({array, fmt::format(text, std::forward<Values>(values)...)});
  }
  std::vector<ArrayProblem> problems;
};

void check_each(const NpyArray& array, ArrayName name, bool heads, Check& check) {
  const std::size_t dims = array.shape.size();
  check.unless(dims == 2 || (heads && dims == 3), name, "shape {} is not {}[rows, columns]",
               shape_text(array.shape), heads ? "[heads, rows, columns] or " : "");
}

void check_shapes(const GivenArrays& arrays, Check& check) {
  const Block q(arrays.q);
  const Block k(arrays.k);
  const Block v(arrays.v);
  check.unless(q.heads == k.heads, ArrayName::q,
               "{} heads, where K has {} (repeat the keys of a group)", q.heads, k.heads);
  check.unless(v.heads == k.heads, ArrayName::v, "{} heads, where K has {}", v.heads, k.heads);
  check.unless(q.columns == k.columns, ArrayName::q, "rows of {} elements, where K has {}",
               q.columns, k.columns);
  check.unless(k.columns >= kLeastDim, ArrayName::k, "rows of {} elements, fewer than {}",
               k.columns, kLeastDim);
  check.unless(k.rows >= kLeastTokens, ArrayName::k, "{} tokens, fewer than {}", k.rows,
               kLeastTokens);
  check.unless(v.rows == k.rows, ArrayName::v, "{} tokens, where K has {}", v.rows, k.rows);
  check.unless(q.rows <= k.rows, ArrayName::q, "{} queries, more than the {} tokens of K", q.rows,
               k.rows);
  for (const auto& [name, block] : {std::pair{ArrayName::q, &q}, {ArrayName::k, &k}})
    for (std::int64_t head = 0; head < block->heads; ++head)
      check.unless(!block->head(head).isZero(0), name, "every element of head {} is 0", head);
  if (!arrays.x) return;
  const Block x(*arrays.x);
  check.unless(!x.head(0).isZero(0), ArrayName::x, "every element is 0");
  check.unless(x.rows == k.rows, ArrayName::x, "{} tokens, where K has {}", x.rows, k.rows);
  check.unless(q.rows == k.rows, ArrayName::q,
               "{} queries of {} tokens: MAPLE's distillation needs all of them (or leave X out)",
               q.rows, k.rows);
}

}  // namespace

Expected<LayerData, std::vector<ArrayProblem>> heads_from(const GivenArrays& arrays) {
  Check check;
  check_each(arrays.q, ArrayName::q, true, check);
  check_each(arrays.k, ArrayName::k, true, check);
  check_each(arrays.v, ArrayName::v, true, check);
  if (arrays.x) check_each(*arrays.x, ArrayName::x, false, check);
  if (check.problems.empty()) check_shapes(arrays, check);
  if (!check.problems.empty()) return Unexpected(std::move(check.problems));

  const Block q(arrays.q);
  const Block k(arrays.k);
  const Block v(arrays.v);
  const bool whole = q.rows == k.rows;
  const Index half = k.rows / 2;
  const Index decoded = std::min<Index>(kMostDecoded, whole ? half : q.rows);
  LayerData out;
  for (std::int64_t head = 0; head < k.heads; ++head) {
    out.heads.push_back(
        {.q = q.head(head), .k = k.head(head), .v = v.head(head), .decode_from = k.rows - decoded});
    const AttentionSample& all = out.heads.back();
    out.calibration.push_back({.q = whole ? Matrix(all.q.topRows(half)) : Matrix(),
                               .k = all.k.topRows(half),
                               .v = {},
                               .decode_from = half});
  }
  if (!arrays.x) return out;
  out.x = Block(*arrays.x).head(0);
  out.calibration_x = out.x.topRows(half);
  return out;
}

}  // namespace tiersim::numerics
