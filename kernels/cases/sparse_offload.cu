#include "kernels/cases/sparse_offload.hpp"

#include "kernels/cases/hot_gather_case.cuh"
#include "kernels/cases/hot_step_case.cuh"
#include "kernels/cases/index_topk_case.cuh"
#include "kernels/cases/indexer_scores_case.cuh"
#include "kernels/cases/lru_update_case.cuh"
#include "kernels/cases/sparse_latent_case.cuh"

namespace tiersim::kernels {
namespace {

template <class Subject, class Shape, class... More>
void add(CaseList& cases, const Shape& shape, const std::string& detail, More... more) {
  const CaseInfo info = Subject(shape, more...).info();
  cases.push_back(
      {info.family + "." + info.kernel + "." + info.variant + "." + shape.name() + detail,
       [shape, more...] { return std::make_unique<Subject>(shape, more...); }});
}

void add_toys(CaseList& cases) {
  const HotShape hot{
      .batch = 2, .context = 300, .k = 40, .slots = 96, .misses = 11, .lengths = {300, 131}};
  add<IndexerScoresCase<64>>(
      cases, IndexerShape{.batch = 2, .context = 300, .blocks = 2, .lengths = {300, 131}}, "");
  add<IndexerScoresCase<32>>(cases, IndexerShape{.batch = 1, .context = 128}, "");
  for (const Scores scores : {Scores::flat, Scores::concentrated}) {
    const IndexTopkShape choice{
        .batch = 2, .context = 304, .k = 40, .scores = scores, .lengths = {304, 131}};
    add<IndexTopkCase<false>>(cases, choice, "");
    add<IndexTopkCase<true>>(cases, choice, "");
  }
  add<LruUpdateCase<64, 2>>(cases, hot, "");
  add<HotGatherCase<false>>(cases, hot, "", 1);
  add<HotGatherCase<true>>(cases, hot, "", 2);
  add<HotStepCase<64, 2, false>>(cases, hot, "", 2);
  add<HotStepCase<64, 2, true>>(cases, hot, "", 1);
  SparseAttentionShape attended{
      .batch = 2, .heads = 64, .slots = 96, .k = 40, .lengths = {300, 31}};
  add<SparseLatentCase<SparseLatent32>>(cases, attended, "");
  attended.batch = 1;
  attended.splits = 2;
  attended.lengths = {31};
  add<SparseLatentCase<SparseLatent64>>(cases, attended, "");
}

// 64 index heads (DeepSeek-V3.2) and 32 (GLM-5). Two blocks fill an SM of an H200.
void add_indexers(CaseList& cases) {
  const auto shape = [](int batch, int context) {
    const int tiles = context / (kIndexerTile * kIndexerWarps);
    return IndexerShape{
        .batch = batch, .context = context, .blocks = std::min(tiles, std::max(1, 264 / batch))};
  };
  for (const int context : {8192, 32768, 131072}) {
    add<IndexerScoresCase<64>>(cases, shape(1, context), "");
    add<IndexerScoresCase<32>>(cases, shape(1, context), "");
  }
  for (const int batch : {16, 64}) {
    add<IndexerScoresCase<64>>(cases, shape(batch, 32768), "");
    add<IndexerScoresCase<32>>(cases, shape(batch, 32768), "");
  }
  add<IndexerScoresCase<64>>(cases, shape(16, 131072), "");
}

// Top 2048. Rows of up to 32K scores by either kernel, longer ones by topk_long alone.
void add_choices(CaseList& cases) {
  for (const Scores scores : {Scores::flat, Scores::concentrated}) {
    const auto shape = [scores](int batch, int context) {
      return IndexTopkShape{.batch = batch, .context = context, .k = 2048, .scores = scores};
    };
    for (const int batch : {1, 64}) {
      add<IndexTopkCase<false>>(cases, shape(batch, 8192), "");
      add<IndexTopkCase<false>>(cases, shape(batch, 32768), "");
      add<IndexTopkCase<true>>(cases, shape(batch, 32768), "");
      add<IndexTopkCase<true>>(cases, shape(batch, 131072), "");
    }
    add<IndexTopkCase<true>>(cases, shape(1, 65536), "");
    add<IndexTopkCase<true>>(cases, shape(264, 131072), "");
  }
}

// 2048 rows of 32K tokens and 4096 slots, as SGLang's HiSparse. About 13 % of a step's rows miss
// (270), few (27), or all.
void add_hot_rows(CaseList& cases) {
  const auto hot = [](int batch, int misses) {
    return HotShape{.batch = batch, .context = 32768, .k = 2048, .slots = 4096, .misses = misses};
  };
  for (const int batch : {1, 16, 64, 256}) add<LruUpdateCase<1024, 4>>(cases, hot(batch, 270), "");
  add<LruUpdateCase<1024, 4>>(cases, hot(16, 2048), "");
  for (const int blocks : {4, 16}) {
    add<HotGatherCase<false>>(cases, hot(1, 270), ".blocks" + std::to_string(blocks), blocks);
  }
  add<HotGatherCase<false>>(cases, hot(1, 2048), ".blocks16", 16);
  for (const int blocks : {1, 2, 8}) {
    add<HotStepCase<1024, 4, false>>(cases, hot(1, 270), ".blocks" + std::to_string(blocks),
                                     blocks);
  }
  for (const int misses : {27, 270, 2048}) {
    add<HotStepCase<1024, 4, false>>(cases, hot(16, misses), ".blocks2", 2);
    add<HotGatherCase<false>>(cases, hot(16, misses), ".blocks4", 4);
    add<HotGatherCase<true>>(cases, hot(16, misses), ".blocks4", 4);
  }
}

// 128 heads (DeepSeek-V3.2) and 64 (GLM-5). Blocks fill 132 SMs, where a block takes an SM.
void add_attention(CaseList& cases) {
  const auto shape = [](int batch, int heads, bool pooled) {
    const int blocks = batch * (heads / 64);
    return SparseAttentionShape{.batch = batch,
                                .heads = heads,
                                .slots = 4096,
                                .k = 2048,
                                .splits = std::clamp(132 / blocks, 1, 16),
                                .pooled = pooled};
  };
  for (const int batch : {1, 16, 64, 128}) {
    add<SparseLatentCase<SparseLatent64>>(cases, shape(batch, 128, false), "");
    add<SparseLatentCase<SparseLatent64>>(cases, shape(batch, 64, false), "");
  }
  add<SparseLatentCase<SparseLatent64>>(cases, shape(64, 128, true), "");
  add<SparseLatentCase<SparseLatent32>>(cases, shape(64, 128, false), "");
}

}  // namespace

void add_sparse_offload_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_toys(cases);
    return;
  }
  add_indexers(cases);
  add_choices(cases);
  add_hot_rows(cases);
  add_attention(cases);
}

}  // namespace tiersim::kernels
