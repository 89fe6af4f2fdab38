#include "workloads/attention/sparq.hpp"

#include <fmt/format.h>

#include "workloads/attention/row_fetch.hpp"

namespace tiersim {
namespace {

constexpr Bytes kSector = Bytes::from_base(32);  // smallest load of a GPU

class Sparq final : public Method {
 public:
  void describe(Fields& f) override {
    f.required("budget", budget_, "Share of the rows that is fetched.", fraction());
    f.required("rank", rank_, "Key columns fetched for screening, r of a key row's.",
               in_range(1, 4096));
    f.optional("key_copies", key_copies_, "2: a transposed copy to screen from; 1: none.",
               in_range(1, 2));
    f.optional("fetch", fetch_, "How columns and chosen rows come from the far tier.");
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, KvTier::far, [this](const KvShape& shape) { return choice(shape); });
    if (key_copies_ == 1 && !fetch_.near_key().empty())
      out.push_back({"fetch." + fetch_.near_key(),
                     "is not known for screening by parts of the keys",
                     "leave it out, or set key_copies: 2"});
    if (rank_ > model.key_width())
      out.push_back({"rank",
                     fmt::format("{} exceeds the {} elements of the model's key rows", rank_,
                                 model.key_width()),
                     ""});
    return out;
  }

  bool screens() const override { return true; }
  std::int64_t near_rows() const override { return fetch_.near_rows; }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    std::vector<CachedTensor> out = fetch_.cached(c, KvTier::far);
    // Transposed: a new position adds one element to each column. 4-bit elements share a byte, so
    // two columns count as one.
    const std::int64_t elements = bits(shape.type) < 8 ? 8 / bits(shape.type) : 1;
    if (key_copies_ == 2)
      out.push_back({TensorClass::key_copy, c.placement.far, shape.context,
                     stored(elements, shape.type),
                     shape.sequences * ((shape.key_width + elements - 1) / elements)});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    add_tensor(graph, TensorClass::staging, c.placement.near, columns(shape));
    add_row_buffers(graph, c, rows(shape));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    LayerInputs stored = in;  // rows that are near are attended to once they are stored
    stored.projected = add_store(graph, c, in.layer, cached(c), in.projected);
    if (!in.guessed()) stored.screen_after = stored.projected;
    ChosenRows chosen = rows(KvShape(c));
    chosen.screen = [&](OpId after) { return screen(c, stored, after, graph); };
    return add_chosen_rows(graph, c, stored, chosen);
  }

 private:
  RowChoice choice(const KvShape& shape) const { return {.positions = shape.chosen(budget_)}; }
  ChosenRows rows(const KvShape& shape) const { return {.fetch = fetch_, .choice = choice(shape)}; }
  // Bytes of each row that must be loaded where there is one copy of the keys: a sector for each
  // column until all are touched, or the whole row once that is half of it.
  Bytes row_part(const KvShape& shape) const {
    const Bytes sectors = kSector * rank_;
    return sectors * 2 < shape.key_row() ? sectors : shape.key_row();
  }
  Bytes columns(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type) * (shape.sequences * rank_);
    return row_part(shape) * (shape.sequences * shape.context);
  }
  Bytes column_run(const KvShape& shape) const {
    if (key_copies_ == 2) return stored(shape.context, shape.type);
    return row_part(shape) == shape.key_row() ? shape.key_row() : kSector;
  }

  OpId screen(const AttentionContext& c, const LayerInputs& in, OpId after,
              StepGraph& graph) const {
    const KvShape shape(c);
    const TensorClass from = key_copies_ == 2 ? TensorClass::key_copy : TensorClass::keys;
    const Bytes fetched = columns(shape);
    after = add_fetch(graph, c, in.layer,
                      {.phase = Phase::screening,
                       .by = fetch_.by,
                       .parts = {{from, fetched, column_run(shape)}},
                       .after = in.in_copy_order(after)});
    return add_screening(
        graph, c, in.layer,
        {.read = {TensorClass::staging, fetched, fetched},
         .flops = Flops::from_base(2 * rank_) * (shape.query_heads * shape.context),
         .listed = fetch_.counts(shape, choice(shape)).listed,
         .after = after});
  }

  double budget_ = 0;
  std::int64_t rank_ = 0;
  std::int64_t key_copies_ = 2;
  RowFetch fetch_;
};

}  // namespace

void register_sparq(Registry<MethodKind>& registry) {
  registry.add("sparq", {"screen by r key columns in the far tier, then fetch the chosen rows",
                         []() -> std::unique_ptr<Method> { return std::make_unique<Sparq>(); }});
}

}  // namespace tiersim
