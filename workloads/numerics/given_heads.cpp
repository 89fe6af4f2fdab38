#include "workloads/numerics/given_heads.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tiersim::numerics {
namespace {

constexpr Index kMostDecoded = 48;
constexpr std::int64_t kLeastTokens = 64;
constexpr std::int64_t kLeastDim = 16;
// Losses are sums of fourth powers (up to 10^120) and ratios of two of them (up to 10^240). Within
// these limits every result fits into a double, and no head underflows to zero.
constexpr double kMostElement = 1e30;
constexpr double kLeastLargest = 1e-30;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// An array as [heads, rows, columns], also where it has no dimension of heads.
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

// The index "(0, 5, 3)" of an element, from its place in the file.
std::string index_text(const std::vector<std::int64_t>& shape, std::ptrdiff_t place) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
  return shape_text(index);
}

void check_elements(const NpyArray& array, ArrayName name, Check& check) {
  const auto too_large = [](double value) { return !(std::abs(value) <= kMostElement); };
  const auto first = std::ranges::find_if(array.values, too_large);
  if (first == array.values.end()) return;
  const auto more = std::count_if(first + 1, array.values.end(), too_large);
  check.unless(false, name, "element {} is {}, not within +-{}{}",
               index_text(array.shape, first - array.values.begin()), *first, kMostElement,
               more > 0 ? fmt::format(" (and {} more)", more) : "");
}

// Checks the largest magnitude; `what` is " of head 0" or empty. True where it is large enough.
bool check_largest(const Matrix& rows, ArrayName name, const std::string& what, Check& check) {
  const double largest = rows.cwiseAbs().maxCoeff();
  check.unless(largest != 0, name, "every element{} is 0", what);
  check.unless(largest == 0 || largest >= kLeastLargest, name,
               "the largest element{} is {} in magnitude, below {}", what, largest, kLeastLargest);
  return largest >= kLeastLargest;
}

void check_heads(const Block& block, ArrayName name, Check& check) {
  for (std::int64_t head = 0; head < block.heads; ++head)
    check_largest(block.head(head), name, fmt::format(" of head {}", head), check);
}

// Refuses calibration data that are 0 throughout, where a share of the power would be 0 / 0.
void check_calibrated(const Block& block, ArrayName name, Check& check) {
  const Index half = block.rows / 2;
  for (std::int64_t head = 0; head < block.heads; ++head)
    check_largest(block.head(head).topRows(half), name,
                  fmt::format("{} in the first {} rows, which MAPLE is distilled on,",
                              name == ArrayName::x ? "" : fmt::format(" of head {}", head), half),
                  check);
}

void check_keys_differ(const Block& k, Check& check) {
  for (std::int64_t head = 0; head < k.heads; ++head) {
    const Matrix keys = k.head(head);
    check.unless(keys.isZero(0) || !(keys.rowwise() - keys.row(0)).isZero(0), ArrayName::k,
                 "every key of head {} is the same: there is nothing to choose", head);
  }
}

void check_values(const GivenArrays& arrays, Check& check) {
  check_elements(arrays.q, ArrayName::q, check);
  check_elements(arrays.k, ArrayName::k, check);
  check_elements(arrays.v, ArrayName::v, check);
  if (arrays.x) check_elements(*arrays.x, ArrayName::x, check);
  check_heads(Block(arrays.q), ArrayName::q, check);
  check_heads(Block(arrays.k), ArrayName::k, check);
  check_heads(Block(arrays.v), ArrayName::v, check);
  if (arrays.x) check_largest(Block(*arrays.x).head(0), ArrayName::x, "", check);
  check_keys_differ(Block(arrays.k), check);
  if (!arrays.x || !check.problems.empty()) return;
  check_calibrated(Block(arrays.q), ArrayName::q, check);
  check_calibrated(Block(arrays.k), ArrayName::k, check);
  check_calibrated(Block(*arrays.x), ArrayName::x, check);
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
  if (!arrays.x) return;
  const Block x(*arrays.x);
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
  if (check.problems.empty()) {
    check_shapes(arrays, check);
    check_values(arrays, check);
  }
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
