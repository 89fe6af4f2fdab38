#include "hwmodels/compute/kernel_sizes.hpp"

#include "hwmodels/forms/batched_form.hpp"
#include "hwmodels/forms/block_form.hpp"
#include "hwmodels/forms/conv_form.hpp"
#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/indexed_form.hpp"
#include "hwmodels/forms/prefill_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "hwmodels/forms/quantise_form.hpp"
#include "hwmodels/forms/scan_form.hpp"
#include "hwmodels/forms/update_form.hpp"

namespace tiersim {
namespace {

double size_of(std::int64_t whole) {
  return static_cast<double>(whole);
}

// Bytes of an operand; fp4 with a scale of 8 bits for 16 elements.
double element_bytes(Arithmetic arithmetic) {
  constexpr std::array<double, kArithmeticNames.size()> kBytes{2, 1, 1, 0.5625, 1};
  return kBytes[static_cast<std::size_t>(arithmetic)];
}

// Bytes of a stored weight of `bits`; 0: as the operand.
double weight_bytes(double bits, Arithmetic arithmetic) {
  const bool as_operand = bits == 0 || arithmetic == Arithmetic::fp4;
  return as_operand ? element_bytes(arithmetic) : bits / 8;
}

std::vector<double> attention_sizes(const KernelWork& work) {
  const AttentionShape& a = work.attention;
  if (a.sequences == 0) return {};
  const double kv_bytes = size_of(a.kv_bits) / 8;
  const double group = size_of(a.heads) / size_of(a.kv_heads);
  if (work.family == KernelFamily::prefill_attention)
    return PrefillCase{
        size_of(a.sequences), size_of(a.kv_heads), group,   size_of(a.head_dim), size_of(a.tokens),
        size_of(a.before),    size_of(a.window),   kv_bytes}
        .sizes();
  // All new positions of a sequence are query rows of one read of its cache.
  return DecodeCase{size_of(a.sequences),
                    size_of(a.kv_heads),
                    group * size_of(a.tokens),
                    size_of(a.head_dim),
                    size_of(a.before + a.tokens),
                    size_of(a.window),
                    kv_bytes}
      .sizes();
}

// The rule of Mamba-2 has a kernel of its own, without the correction, that nobody timed.
std::vector<double> linear_sizes(const LinearShape& l) {
  if (l.sequences == 0 || !l.corrects) return {};
  return LinearCase{.sequences = size_of(l.sequences),
                    .tokens = size_of(l.tokens),
                    .decode = l.decode ? 1.0 : 0.0,
                    .key_heads = size_of(l.key_heads),
                    .value_heads = size_of(l.value_heads),
                    .key_dim = size_of(l.key_dim),
                    .value_dim = size_of(l.value_dim),
                    .state_bytes = size_of(l.state_bits) / 8,
                    .by_element = l.decay_by_element ? 1.0 : 0.0}
      .sizes();
}

std::vector<double> conv_sizes(const LinearShape& l) {
  if (l.sequences == 0) return {};
  return ConvCase{.sequences = size_of(l.sequences),
                  .tokens = size_of(l.tokens),
                  .decode = l.decode ? 1.0 : 0.0,
                  .channels = size_of(2 * l.key_heads * l.key_dim + l.value_heads * l.value_dim),
                  .taps = size_of(l.taps)}
      .sizes();
}

std::vector<double> block_sizes(const IndexedShape& i) {
  return BlockCase{.part = static_cast<double>(i.part),
                   .sequences = size_of(i.sequences),
                   .tokens = size_of(i.tokens),
                   .before = size_of(i.before),
                   .heads = size_of(i.heads),
                   .kv_heads = size_of(i.index_heads),
                   .top_k = size_of(i.top_k),
                   .weights = size_of(i.weights),
                   .weight_bytes = i.weight_bits / 8,
                   .kv_bytes = size_of(i.kv_bits) / 8}
      .sizes();
}

std::vector<double> indexed_sizes(const IndexedShape& i) {
  if (i.sequences == 0) return {};
  if (i.block > 1) return block_sizes(i);
  return IndexedCase{.part = static_cast<double>(i.part),
                     .sequences = size_of(i.sequences),
                     .tokens = size_of(i.tokens),
                     .before = size_of(i.before),
                     .heads = size_of(i.heads),
                     .index_heads = size_of(i.index_heads),
                     .top_k = size_of(i.top_k),
                     .weights = size_of(i.weights),
                     .weight_bytes = i.weight_bits / 8,
                     .kv_bytes = size_of(i.kv_bits) / 8}
      .sizes();
}

}  // namespace

KernelFamily timed_family(const KernelWork& work) {
  return work.indexed.sequences > 0 ? KernelFamily::screening : work.family;
}

const KernelForm* only_form_of(const KernelWork& work) {
  if (work.indexed.sequences == 0) return nullptr;
  return work.indexed.block > 1 ? &block_form() : &indexed_form();
}

bool is_form_of(KernelFamily family, const KernelForm& form) {
  switch (family) {
    case KernelFamily::gemm:
      return &form == &product_form();
    case KernelFamily::grouped_attention:
    case KernelFamily::latent_attention:
      return &form == &decode_form();
    case KernelFamily::prefill_attention:
      return &form == &prefill_form();
    case KernelFamily::experts:
      return &form == &experts_form();
    case KernelFamily::quantisation:
      return &form == &quantise_form();
    case KernelFamily::linear_attention:
      return &form == &update_form() || &form == &scan_form();
    case KernelFamily::causal_conv:
      return &form == &conv_form();
    case KernelFamily::batched_gemm:
      return &form == &batched_form();
    case KernelFamily::screening:
      return &form == &indexed_form() || &form == &block_form();
    default:
      return false;
  }
}

std::vector<double> product_sizes(const KernelWork& work) {
  const MatrixShape& m = work.matrix;
  if (m.rows == 0) return {};
  return ProductCase{.m = size_of(m.rows),
                     .n = size_of(m.columns) * size_of(m.count),
                     .k = size_of(m.depth),
                     .weight_bytes = weight_bytes(m.weight_bits, work.arithmetic),
                     .input_bytes = element_bytes(work.arithmetic),
                     .quantises = work.arithmetic == Arithmetic::bf16 ? 0.0 : 1.0,
                     .copies = size_of(m.copies)}
      .sizes();
}

std::vector<double> batched_sizes(const KernelWork& work) {
  const MatrixShape& m = work.matrix;
  if (m.rows == 0) return {};
  return BatchedCase{.m = size_of(m.rows),
                     .n = size_of(m.columns),
                     .k = size_of(m.depth),
                     .batch = size_of(m.count),
                     .weight_bytes = weight_bytes(m.weight_bits, work.arithmetic)}
      .sizes();
}

std::vector<double> quantise_sizes(const KernelWork& work) {
  return QuantiseCase{size_of(work.matrix.rows), size_of(work.matrix.depth),
                      element_bytes(work.arithmetic)}
      .sizes();
}

ExpertsCase experts_case(const KernelWork& work) {
  const ExpertsShape& e = work.experts;
  return {.tokens = size_of(e.tokens),
          .hidden = size_of(e.hidden),
          .intermediate = size_of(e.intermediate),
          .top_k = size_of(e.top_k),
          .experts = size_of(e.experts),
          .expert_parallel = size_of(e.experts) / size_of(e.held),
          .gated = e.gated ? 1.0 : 0.0,
          .weight_bytes = weight_bytes(e.weight_bits, work.arithmetic),
          .input_bytes = element_bytes(work.arithmetic),
          .skew = e.skew};
}

std::array<std::vector<double>, 2> shared_sizes(const KernelWork& work) {
  const ExpertsShape& e = work.experts;
  KernelWork product = work;
  product.arithmetic = e.shared_arithmetic;
  product.matrix = {.rows = e.shared_tokens,
                    .columns = (e.gated ? 2 : 1) * e.shared_width,
                    .depth = e.shared_hidden,
                    .weight_bits = e.shared_bits};
  const std::vector<double> up = product_sizes(product);
  product.matrix = {.rows = e.shared_tokens,
                    .columns = e.shared_hidden,
                    .depth = e.shared_width,
                    .weight_bits = e.shared_bits};
  return {up, product_sizes(product)};
}

std::vector<double> sizes_of(const KernelWork& work) {
  switch (timed_family(work)) {
    case KernelFamily::gemm:
      return product_sizes(work);
    case KernelFamily::quantisation:
      return quantise_sizes(work);
    case KernelFamily::experts:
      return work.experts.tokens == 0 ? std::vector<double>() : experts_case(work).sizes();
    case KernelFamily::linear_attention:
      return linear_sizes(work.linear);
    case KernelFamily::causal_conv:
      return conv_sizes(work.linear);
    case KernelFamily::batched_gemm:
      return batched_sizes(work);
    case KernelFamily::screening:
      return indexed_sizes(work.indexed);
    default:
      return attention_sizes(work);
  }
}

}  // namespace tiersim
