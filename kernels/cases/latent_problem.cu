#include "kernels/cases/latent_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/device/fill.cuh"
#include "kernels/reference/attention.hpp"
#include "kernels/runtime/fill.cuh"

namespace tiersim::kernels {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// Limits of the reference in a check: numbers made, and multiply-adds.
constexpr std::int64_t kMadeNumbers = 40'000'000;
constexpr std::int64_t kMultiplyAdds = 300'000'000;

}  // namespace

LatentProblem::LatentProblem(LatentShape shape, int splits)
    : shape_(std::move(shape)), splits_(splits) {
  if (shape_.lengths.empty()) {
    shape_.lengths.assign(static_cast<std::size_t>(shape_.batch), shape_.context);
  }
}

LatentProblem::Arrays::Arrays(const LatentProblem& problem)
    : q(size(std::int64_t{problem.rows()} * problem.row_dim()), "q"),
      kv(size(problem.cache_rows() * problem.row_dim()), "kv"),
      out(size(std::int64_t{problem.rows()} * problem.shape_.latent_dim), "out") {}

LatentProblem::Shared::Shared(const LatentProblem& problem)
    : lengths(problem.shape_.lengths, "lengths"),
      pages(problem.pages_, "page table"),
      partial(size(std::int64_t{problem.splits_} * problem.rows() * problem.shape_.latent_dim),
              "partial"),
      lse(size(std::int64_t{problem.splits_} * problem.rows()), "lse") {}

std::int64_t LatentProblem::tokens() const {
  std::int64_t sum = 0;
  for (const int length : shape_.lengths) sum += length;
  return sum;
}

std::int64_t LatentProblem::cache_rows() const {
  const int rows = shape_.paged ? pages_per_sequence() * kPageTokens : shape_.context;
  return std::int64_t{shape_.batch} * rows;
}

float LatentProblem::scale() const {
  return shape_.amplitude / std::sqrt(static_cast<float>(row_dim()));
}

std::string LatentProblem::shape_name() const {
  return "b" + std::to_string(shape_.batch) + "-s" + std::to_string(shape_.context) + "-h" +
         std::to_string(shape_.heads) + "-d" + std::to_string(shape_.latent_dim) + "." +
         std::to_string(shape_.rope_dim);
}

std::vector<std::pair<std::string, std::int64_t>> LatentProblem::named_shape() const {
  return {{"batch", shape_.batch},           {"context", shape_.context},   {"heads", shape_.heads},
          {"latent_dim", shape_.latent_dim}, {"rope_dim", shape_.rope_dim}, {"splits", splits_}};
}

const int* LatentProblem::device_pages() const {
  return shape_.paged ? shared_.at(0).pages.data() : nullptr;
}

std::int64_t LatentProblem::set_bytes() const {
  return 2 * (std::int64_t{rows()} * (row_dim() + shape_.latent_dim) + cache_rows() * row_dim());
}

std::uint64_t LatentProblem::seed_of(int set, bool keys) const {
  Random random(seed_ + 2 * static_cast<std::uint64_t>(set) + (keys ? 1U : 0U));
  return random.next();
}

void LatentProblem::prepare(int sets, std::uint64_t seed) {
  seed_ = seed << 16U;
  arrays_.clear();
  shared_.clear();
  pages_.clear();
  if (shape_.paged) {
    pages_.resize(size(std::int64_t{shape_.batch} * pages_per_sequence()));
    Random random(seed_ + 0xffffU);
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      pages_[i] = static_cast<int>(i);
      std::swap(pages_[i], pages_[random.below(i + 1)]);
    }
  }
  shared_.emplace_back(*this);
  arrays_.reserve(static_cast<std::size_t>(sets));
  Stream stream;
  for (int set = 0; set < sets; ++set) {
    Arrays& made = arrays_.emplace_back(*this);
    fill(stream, made.q, seed_of(set, false));
    fill(stream, made.kv, seed_of(set, true));
  }
  stream.synchronize();
}

// Tokens 0 to length of a sequence, in consecutive rows, with the numbers that fill() made.
std::vector<float> LatentProblem::rows_of_sequence(int set, int sequence) const {
  const std::uint64_t seed = seed_of(set, true);
  const std::size_t dim = static_cast<std::size_t>(row_dim());
  const int length = shape_.lengths[static_cast<std::size_t>(sequence)];
  std::vector<float> rows(static_cast<std::size_t>(length) * dim);
  for (int token = 0; token < length; ++token) {
    std::int64_t row = std::int64_t{sequence} * shape_.context + token;
    if (shape_.paged) {
      const int page =
          pages_[size(std::int64_t{sequence} * pages_per_sequence() + token / kPageTokens)];
      row = std::int64_t{page} * kPageTokens + token % kPageTokens;
    }
    for (std::size_t d = 0; d < dim; ++d) {
      rows[static_cast<std::size_t>(token) * dim + d] = filled_number(seed, size(row) * dim + d);
    }
  }
  return rows;
}

Agreement LatentProblem::check(int set) {
  const auto latent = static_cast<std::size_t>(shape_.latent_dim);
  const auto dim = static_cast<std::size_t>(row_dim());
  const std::vector<bf16> out = arrays(set).out.download();
  const std::int64_t per_sequence =
      std::max<std::int64_t>(std::int64_t{shape_.context} * row_dim(), 1);
  const auto sequences =
      static_cast<int>(std::clamp<std::int64_t>(kMadeNumbers / per_sequence, 1, shape_.batch));
  const auto heads = static_cast<int>(
      std::clamp<std::int64_t>(kMultiplyAdds / (2 * per_sequence * sequences), 1, shape_.heads));
  Difference difference;
  for (const int b : sampled_numbers(sequences, shape_.batch, seed_)) {
    const std::vector<float> rows = rows_of_sequence(set, b);
    for (const int h :
         sampled_numbers(heads, shape_.heads, seed_ + static_cast<std::uint64_t>(b))) {
      const std::size_t row = size(std::int64_t{b} * shape_.heads + h);
      std::vector<float> query(dim);
      for (std::size_t d = 0; d < dim; ++d) {
        query[d] = filled_number(seed_of(set, false), row * dim + d);
      }
      const std::vector<double> expected = reference::attention(
          query.data(), {rows.data(), dim}, {rows.data(), dim},
          size(shape_.lengths[static_cast<std::size_t>(b)]), dim, latent, double{scale()});
      for (std::size_t d = 0; d < latent; ++d) {
        difference.add(double{to_float(out[row * latent + d])}, expected[d]);
      }
    }
  }
  return difference.agreement(1e-2);
}

}  // namespace tiersim::kernels
