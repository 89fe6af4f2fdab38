#include "kernels/cases/baselines.hpp"

#include "kernels/cases/product_case.cuh"

namespace tiersim::kernels {
namespace {

void add_product(CaseList& cases, const std::string& family, const std::string& kernel,
                 const std::string& model, int m, int n, int k) {
  cases.push_back({.name = family + "." + kernel + "." + product_variant() + "." + model + "-m" +
                           std::to_string(m) + "-n" + std::to_string(n) + "-k" + std::to_string(k),
                   .make = [=] { return std::make_unique<ProductCase>(family, kernel, m, n, k); },
                   .warm_too = m <= 64});  // weights of small batches may be in L2 or not
}

}  // namespace

void add_baselines_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_product(cases, "early_exit", "head_product", "toy", 2, 24, 16);
    add_product(cases, "dense", "projection", "toy", 3, 16, 16);
    return;
  }
  // T5-v1.1-base: width 768, feed-forward 2048, 32128 words; batches of the exit study.
  for (const int batch : {1, 8, 64, 256}) {
    add_product(cases, "early_exit", "head_product", "t5-base", batch, 32128, 768);
    add_product(cases, "early_exit", "projection", "t5-base", batch, 768, 768);
    add_product(cases, "early_exit", "feed_forward", "t5-base", batch, 2048, 768);
  }
  // Llama-2-7B: width 4096, feed-forward 11008, at MAPLE's batch.
  for (const int batch : {1, 16, 128}) {
    add_product(cases, "dense", "projection", "llama2-7b", batch, 4096, 4096);
    add_product(cases, "dense", "feed_forward", "llama2-7b", batch, 11008, 4096);
  }
  add_sorting_baselines(cases, sizes);
}

}  // namespace tiersim::kernels
