// A product of two bf16 matrices by the vendor's library, as a case: the compute ceiling, and the
// projections and the head of the baselines.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/inputs.hpp"
#include "kernels/cases/parallel.hpp"
#include "kernels/device/fill.cuh"
#include "kernels/device/platform.cuh"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/blas.cuh"

namespace tiersim::kernels {

// out (m x n) = a (m x k) b^T (n x k). On the emulator a host loop replaces the library, and the
// variant is stand_in.
class ProductCase final : public Case {
 public:
  ProductCase(std::string family, std::string kernel, int m, int n, int k)
      : family_(std::move(family)), kernel_(std::move(kernel)), m_(m), n_(n), k_(k) {}

  CaseInfo info() const override {
    return {family_,
            kernel_,
            TS_ON_CARD ? "cublaslt" : "stand_in",
            "bf16",
            {{"m", m_}, {"n", n_}, {"k", k_}},
            family_ != "ceiling"};
  }
  Work work() const override {
    Work work;
    work.read_bytes = 2 * (std::int64_t{m_} * k_ + std::int64_t{n_} * k_);
    work.written_bytes = 2 * std::int64_t{m_} * n_;
    // At least: the library's tiles are not known
    work.requested_bytes = work.read_bytes + work.written_bytes;
    work.flops = 2 * std::int64_t{m_} * n_ * k_;
    work.issued_flops = work.flops;
    return work;
  }
  // The library's launches are not known
  std::vector<LaunchUse> launches() const override { return {}; }
  std::int64_t set_bytes() const override { return work().read_bytes + work().written_bytes; }
  void prepare(int sets, std::uint64_t seed) override {
    product_ = std::make_unique<BlasProduct>(m_, n_, k_);
    for (int set = 0; set < sets; ++set) {
      const std::uint64_t base = 2 * (seed + static_cast<std::uint64_t>(set));
      Set made{random(m_, base), random(n_, base + 1), {}, {}, nullptr};
      made.a = std::make_unique<DeviceArray<bf16>>(made.host_a, "a");
      made.b = std::make_unique<DeviceArray<bf16>>(made.host_b, "b");
      made.out = std::make_unique<DeviceArray<bf16>>(
          static_cast<std::size_t>(m_) * static_cast<std::size_t>(n_), "out");
      sets_.push_back(std::move(made));
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    product_->product(stream, s.a->data(), s.b->data(), s.out->data());
  }
  // Compares a sample of elements in float64: relative 2^-8 for the rounding of bf16, sums in fp32.
  Agreement check(int set) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const std::vector<bf16> out = s.out->download();
    Random draw(1);
    const std::int64_t samples = std::min<std::int64_t>(4096, std::int64_t{m_} * n_);
    double wrong = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::size_t row = draw.below(static_cast<std::uint64_t>(m_));
      const std::size_t column = draw.below(static_cast<std::uint64_t>(n_));
      const auto k = static_cast<std::size_t>(k_);
      double sum = 0;
      for (std::size_t j = 0; j < k; ++j) {
        sum += static_cast<double>(__bfloat162float(s.host_a[row * k + j])) *
               static_cast<double>(__bfloat162float(s.host_b[column * k + j]));
      }
      const double got = __bfloat162float(out[row * static_cast<std::size_t>(n_) + column]);
      wrong += (got - sum) * (got - sum);
      norm += sum * sum;
    }
    return {std::sqrt(wrong / norm), 1e-2, samples};
  }

 private:
  struct Set {
    std::vector<bf16> host_a, host_b;
    std::unique_ptr<DeviceArray<bf16>> a, b, out;
  };
  std::vector<bf16> random(int rows, std::uint64_t seed) const {
    std::vector<bf16> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k_));
    in_parallel(static_cast<std::int64_t>(values.size()),
                [&values, seed](std::int64_t first, std::int64_t last) {
                  for (std::int64_t i = first; i < last; ++i) {
                    const float normal = random_normal_at(seed, static_cast<std::uint64_t>(i));
                    values[static_cast<std::size_t>(i)] = __float2bfloat16(normal);
                  }
                });
    return values;
  }

  std::string family_, kernel_;
  int m_, n_, k_;
  std::unique_ptr<BlasProduct> product_;
  std::vector<Set> sets_;
};

inline std::string product_variant() {
  return TS_ON_CARD ? "cublaslt" : "stand_in";
}

}  // namespace tiersim::kernels
