#include "kernels/cases/dense_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/reference/attention.hpp"
#include "kernels/runtime/fill.cuh"

namespace tiersim::kernels {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

constexpr std::int64_t kMadeNumbers = 30'000'000;  // limit of the reference's numbers in a check

}  // namespace

DenseProblem::DenseProblem(DenseShape shape, int splits)
    : shape_(std::move(shape)), splits_(splits) {
  if (shape_.lengths.empty()) {
    shape_.lengths.assign(static_cast<std::size_t>(shape_.batch), shape_.context);
  }
}

DenseProblem::Arrays::Arrays(const DenseProblem& problem)
    : q(size(std::int64_t{problem.rows()} * problem.shape_.head_dim), "q"),
      k(size(std::int64_t{problem.shape_.batch} * problem.shape_.kv_heads * problem.shape_.context *
             problem.shape_.head_dim),
        "k"),
      v(k.size(), "v"),
      out(q.size(), "out") {}

DenseProblem::Shared::Shared(const DenseProblem& problem)
    : lengths(problem.shape_.lengths, "lengths"),
      partial(size(std::int64_t{problem.splits_} * problem.rows() * problem.shape_.head_dim),
              "partial"),
      lse(size(std::int64_t{problem.splits_} * problem.rows()), "lse") {}

float DenseProblem::scale() const {
  return shape_.amplitude / std::sqrt(static_cast<float>(shape_.head_dim));
}

std::vector<std::pair<std::string, std::int64_t>> DenseProblem::named_shape() const {
  return {{"batch", shape_.batch}, {"context", shape_.context},   {"kv_heads", shape_.kv_heads},
          {"group", shape_.group}, {"head_dim", shape_.head_dim}, {"splits", splits_}};
}

std::int64_t DenseProblem::set_bytes() const {
  const std::int64_t cache =
      std::int64_t{shape_.batch} * shape_.kv_heads * shape_.context * shape_.head_dim;
  return 2 * (2 * std::int64_t{rows()} * shape_.head_dim + 2 * cache);
}

std::uint64_t DenseProblem::seed_of(int set, Input input) const {
  Random random(seed_ + 4 * static_cast<std::uint64_t>(set) + static_cast<std::uint64_t>(input));
  return random.next();
}

void DenseProblem::prepare(int sets, std::uint64_t seed) {
  seed_ = seed << 16U;
  arrays_.clear();
  shared_.clear();
  shared_.emplace_back(*this);
  arrays_.reserve(static_cast<std::size_t>(sets));
  Stream stream;
  for (int set = 0; set < sets; ++set) {
    Arrays& made = arrays_.emplace_back(*this);
    fill(stream, made.q, seed_of(set, Input::q));
    fill(stream, made.k, seed_of(set, Input::k));
    fill(stream, made.v, seed_of(set, Input::v));
  }
  stream.synchronize();
}

// For K and V the tokens of a sequence, for Q the query heads of a key head.
std::vector<float> DenseProblem::rows_of(int set, Input input, int batch, int kv_head) const {
  const std::int64_t kv_row = std::int64_t{batch} * shape_.kv_heads + kv_head;
  const bool query = input == Input::q;
  const std::int64_t first = kv_row * (query ? shape_.group : shape_.context) * shape_.head_dim;
  const int count = query ? shape_.group : shape_.lengths[static_cast<std::size_t>(batch)];
  std::vector<float> numbers(size(std::int64_t{count} * shape_.head_dim));
  const std::uint64_t seed = seed_of(set, input);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = filled_number(seed, static_cast<std::uint64_t>(first) + i);
  }
  return numbers;
}

void DenseProblem::compare(Difference& difference, const std::vector<bf16>& out, int set, int batch,
                           int kv_head) const {
  const auto dim = static_cast<std::size_t>(shape_.head_dim);
  const std::vector<float> q = rows_of(set, Input::q, batch, kv_head);
  const std::vector<float> k = rows_of(set, Input::k, batch, kv_head);
  const std::vector<float> v = rows_of(set, Input::v, batch, kv_head);
  for (std::size_t g = 0; g < static_cast<std::size_t>(shape_.group); ++g) {
    const std::vector<double> expected =
        reference::attention(q.data() + g * dim, {k.data(), dim}, {v.data(), dim}, k.size() / dim,
                             dim, dim, double{scale()});
    const std::size_t row =
        size((std::int64_t{batch} * shape_.kv_heads + kv_head) * shape_.group) + g;
    for (std::size_t d = 0; d < dim; ++d) {
      difference.add(double{to_float(out[row * dim + d])}, expected[d]);
    }
  }
}

Agreement DenseProblem::check(int set) {
  const std::vector<bf16> out = arrays(set).out.download();
  const std::int64_t per_pair =
      std::max<std::int64_t>(std::int64_t{shape_.context} * shape_.head_dim * 2, 1);
  const int pairs = shape_.batch * shape_.kv_heads;
  const auto count = static_cast<int>(std::clamp<std::int64_t>(kMadeNumbers / per_pair, 1, pairs));
  Difference difference;
  for (const int pair : sampled_numbers(count, pairs, seed_)) {
    compare(difference, out, set, pair / shape_.kv_heads, pair % shape_.kv_heads);
  }
  return difference.agreement(1e-2);
}

}  // namespace tiersim::kernels
