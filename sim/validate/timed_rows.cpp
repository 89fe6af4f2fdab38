#include "sim/validate/timed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hwmodels/forms/batched_form.hpp"
#include "hwmodels/forms/block_form.hpp"
#include "hwmodels/forms/conv_form.hpp"
#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "hwmodels/forms/indexed_form.hpp"
#include "hwmodels/forms/prefill_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "hwmodels/forms/quantise_form.hpp"
#include "hwmodels/forms/scan_form.hpp"
#include "hwmodels/forms/update_form.hpp"
#include "sim/model/expert_loads.hpp"

namespace tiersim {
namespace {

constexpr double kSecondsPerTick = 1e-12;

std::int64_t whole(double x) {
  return static_cast<std::int64_t>(std::llround(x));
}

// The sizes of a product as the operation of a step has them.
MatrixShape matrix_of(const std::vector<double>& s, Arithmetic arithmetic) {
  return {.rows = whole(s[0]),
          .columns = whole(s[1]),
          .depth = whole(s[2]),
          .weight_bits = arithmetic == Arithmetic::fp4 ? 0 : 8 * s[3],
          .copies = whole(s[6])};
}

MatrixShape batched_of(const std::vector<double>& s) {
  return {.rows = whole(s[0]),
          .columns = whole(s[1]),
          .depth = whole(s[2]),
          .count = whole(s[3]),
          .weight_bits = 8 * s[4]};
}

AttentionShape decode_of(const std::vector<double>& s) {
  return {.sequences = whole(s[0]),
          .heads = whole(s[1] * s[2]),
          .kv_heads = whole(s[1]),
          .head_dim = whole(s[3]),
          .tokens = 1,
          .before = whole(s[4]) - 1,
          .window = whole(s[5]),
          .kv_bits = whole(8 * s[6])};
}

AttentionShape prefill_of(const std::vector<double>& s) {
  return {.sequences = whole(s[0]),
          .heads = whole(s[1] * s[2]),
          .kv_heads = whole(s[1]),
          .head_dim = whole(s[3]),
          .tokens = whole(s[4]),
          .before = whole(s[5]),
          .window = whole(s[6]),
          .kv_bits = whole(8 * s[7])};
}

ExpertsShape experts_of(const std::vector<double>& s) {
  const ExpertLoads loads =
      expert_loads({.tokens = s[0], .top_k = s[3], .experts = s[4], .ranks = s[5], .skew = s[9]});
  return {.tokens = whole(s[0]),
          .hidden = whole(s[1]),
          .intermediate = whole(s[2]),
          .top_k = whole(s[3]),
          .experts = whole(s[4]),
          .held = whole(s[4] / s[5]),
          .reached = std::max<std::int64_t>(1, whole(loads.active)),
          .routed = std::max<std::int64_t>(1, whole(loads.rows)),
          .gated = s[6] > 0,
          .weight_bits = 8 * s[7],
          .skew = s[9]};
}

LinearShape linear_of(const std::vector<double>& s) {
  const LinearCase c = LinearCase::of(s);
  return {.sequences = whole(c.sequences),
          .tokens = whole(c.tokens),
          .decode = c.decode > 0,
          .key_heads = whole(c.key_heads),
          .value_heads = whole(c.value_heads),
          .key_dim = whole(c.key_dim),
          .value_dim = whole(c.value_dim),
          .state_bits = whole(8 * c.state_bytes),
          .decay_by_element = c.by_element > 0};
}

// All channels as those of one value.
LinearShape conv_of(const std::vector<double>& s) {
  return {.sequences = whole(s[0]),
          .tokens = whole(s[1]),
          .decode = s[2] > 0,
          .value_heads = 1,
          .value_dim = whole(s[3]),
          .taps = whole(s[4])};
}

IndexedShape indexed_of(const std::vector<double>& s) {
  return {.sequences = whole(s[1]),
          .tokens = whole(s[2]),
          .before = whole(s[3]),
          .heads = whole(s[4]),
          .index_heads = whole(s[5]),
          .top_k = whole(s[6]),
          .kv_bits = whole(8 * s[9]),
          .weights = whole(s[7]),
          .weight_bits = 8 * s[8]};
}

IndexedShape blocks_of(const std::vector<double>& s) {
  IndexedShape out = indexed_of(s);
  out.block = 128;
  return out;
}

// The shape of an operation that runs such a row; false where no step has one.
bool set_shape(Op& op, std::string_view form, const std::vector<double>& sizes) {
  if (form == product_form().name())
    op.matrix = matrix_of(sizes, op.arithmetic);
  else if (form == batched_form().name())
    op.matrix = batched_of(sizes);
  else if (form == decode_form().name())
    op.attention = decode_of(sizes);
  else if (form == experts_form().name())
    op.experts = experts_of(sizes);
  else if (form == prefill_form().name())
    op.attention = prefill_of(sizes);
  else if (form == quantise_form().name())
    op.matrix = {.rows = whole(sizes[0]), .depth = whole(sizes[1])};
  else if (form == update_form().name() || form == scan_form().name())
    op.linear = linear_of(sizes);
  else if (form == conv_form().name())
    op.linear = conv_of(sizes);
  else if (form == indexed_form().name())
    op.indexed = indexed_of(sizes);
  else if (form == block_form().name())
    op.indexed = blocks_of(sizes);
  else
    return false;
  return true;
}

}  // namespace

std::optional<RowAnswer> answer_row(const System& system, const FormColumns& form,
                                    std::string_view dtype, const TimingRow& row) {
  const auto at = std::ranges::find(kArithmeticNames, dtype);
  if (at == kArithmeticNames.end() || !form.family) return std::nullopt;
  const auto arithmetic = static_cast<Arithmetic>(at - kArithmeticNames.begin());
  Op op{.family = *form.family,
        .arithmetic = arithmetic,
        .flops = Flops::from_base(whole(row.flops)),
        .warm = true};
  if (!set_shape(op, form.name, row.form_sizes)) return std::nullopt;
  const Bytes bytes = Bytes::from_base(std::max<std::int64_t>(1, whole(row.memory_bytes)));
  op.accesses.push_back({.tier = TierId(0),
                         .direction = Direction::read,
                         .tensor_class = TensorClass::activations,
                         .payload = bytes,
                         .run = bytes});
  for (std::size_t tier = 0; tier < system.tier_names().size(); ++tier)
    if (!system.is_remote(TierId(tier))) op.accesses.front().tier = TierId(tier);
  const OpPlan plan = system.plan(op);
  const double seconds =
      static_cast<double>(plan.uncontended(system.channels()).count()) * kSecondsPerTick;
  return RowAnswer{.measured = row.seconds,
                   .simulated = seconds,
                   .low = seconds * plan.spread.low,
                   .high = seconds * plan.spread.high,
                   .beyond = plan.beyond_timed};
}

TableCeilings ceilings_of(const System& system) {
  const ComputeSheet& sheet = system.compute_sheet();
  TableCeilings out{.memory = static_cast<double>(system.own_memory_peak().in_base()),
                    .l2_bytes = static_cast<double>(sheet.l2.in_base()),
                    .flops = {}};
  for (std::size_t a = 0; a < sheet.peaks.size(); ++a)
    out.flops[std::string(kArithmeticNames[a])] = static_cast<double>(sheet.peaks[a].in_base());
  return out;
}

}  // namespace tiersim
