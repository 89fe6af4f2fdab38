#include "kernels/cases/screening.hpp"

#include <memory>

#include "kernels/cases/maple_screen_case.cuh"
#include "kernels/cases/selected_case.cuh"
#include "kernels/cases/sparq_case.cuh"
#include "kernels/cases/topk_case.cuh"

namespace tiersim::kernels {
namespace {

using Id16 = std::uint16_t;

template <class Subject, class... More>
void add(CaseList& cases, const ScreeningShape& shape, const std::string& detail, More... more) {
  const CaseInfo info = Subject(shape, more...).info();
  cases.push_back(
      {info.family + "." + info.kernel + "." + info.variant + "." + shape.name() + detail,
       [shape, more...] { return std::make_unique<Subject>(shape, more...); }});
}

ScreeningShape shape_of(int batch, int heads, int capacity, int k, int splits = 1) {
  ScreeningShape shape;
  shape.batch = batch;
  shape.heads = heads;
  shape.capacity = capacity;
  shape.k = k;
  shape.splits = splits;
  return shape;
}

void add_toys(CaseList& cases) {
  ScreeningShape ragged = shape_of(2, 2, 304, 40);
  ragged.lengths = {304, 131};
  add<MapleScreenCase<32, Id16>>(cases, ragged, "");
  add<TopkCase<Float32, int>>(cases, ragged, "");
  add<TopkCase<Float16, Id16>>(cases, ragged, "");
  add<SelectedAttentionCase<Id16>>(cases, ragged, "");
  ragged.splits = 2;
  add<SelectedAttentionCase<Id16>>(cases, ragged, "-split2");
  add<SparqCase<32, true>>(cases, ragged, "");
  add<SparqCase<32, false>>(cases, ragged, "");
}

// The shape of kernels/README.md: 128 sequences of 8192 tokens, 32 heads, a quarter of the tokens
// chosen.
void add_choices(CaseList& cases) {
  for (const int batch : {1, 4, 16, 64, 128, 256}) {
    add<MapleScreenCase<32, Id16>>(cases, shape_of(batch, 32, 8192, 2048), "");
  }
  // Intensity at fixed bytes: the longer the rank, the fewer tokens there are.
  add<MapleScreenCase<16, Id16>>(cases, shape_of(64, 32, 16384, 2048), "");
  add<MapleScreenCase<32, Id16>>(cases, shape_of(64, 32, 8192, 512), "");
  add<MapleScreenCase<64, Id16>>(cases, shape_of(64, 32, 4096, 2048), "");
  add<MapleScreenCase<32, Id16>>(cases, shape_of(16, 32, 32768, 8192), "");
  for (const int batch : {1, 16, 128, 1024}) {
    add<TopkCase<Float32, int>>(cases, shape_of(batch, 32, 8192, 2048), "");
    add<TopkCase<Float16, Id16>>(cases, shape_of(batch, 32, 8192, 2048), "");
  }
  add<TopkCase<Float32, int>>(cases, shape_of(1, 1, 8192, 2048), "");
  add<TopkCase<BFloat16, Id16>>(cases, shape_of(128, 32, 8192, 2048), "");
  add<TopkCase<Float32, int>>(cases, shape_of(32, 32, 32768, 2048), "");
}

// The fewest splits that give each SM its four blocks.
void add_attention(CaseList& cases) {
  add<SelectedAttentionCase<Id16>>(cases, shape_of(1, 32, 8192, 2048, 16), "");
  add<SelectedAttentionCase<Id16>>(cases, shape_of(4, 32, 8192, 2048, 4), "");
  add<SelectedAttentionCase<Id16>>(cases, shape_of(16, 32, 8192, 2048), "");
  add<SelectedAttentionCase<Id16>>(cases, shape_of(64, 32, 8192, 512), "");
  add<SelectedAttentionCase<Id16>>(cases, shape_of(64, 32, 8192, 2048), "");
  add<SelectedAttentionCase<Id16>>(cases, shape_of(128, 32, 8192, 2048), "");
  // Every token is chosen, in order: the limit of the ring alone.
  add<SelectedAttentionCase<Id16>>(cases, shape_of(16, 32, 8192, 8192), "");
}

void add_sparq(CaseList& cases) {
  constexpr SparqPart kScores = SparqPart::scores;
  for (const int batch : {1, 8, 32}) {
    add<SparqCase<32, true>>(cases, shape_of(batch, 32, 8192, 2048), "", kScores);
    add<SparqCase<32, false>>(cases, shape_of(batch, 32, 8192, 2048), "", kScores);
  }
  add<SparqCase<16, true>>(cases, shape_of(32, 32, 8192, 2048), "", kScores);
  add<SparqCase<64, true>>(cases, shape_of(32, 32, 8192, 2048), "", kScores);
  add<SparqCase<16, false>>(cases, shape_of(32, 32, 8192, 2048), "", kScores);
  add<SparqCase<64, false>>(cases, shape_of(32, 32, 8192, 2048), "", kScores);
  // The paper's setting on an A100: few tokens of a long context.
  add<SparqCase<32, true>>(cases, shape_of(32, 32, 8192, 128), "");
  add<SparqCase<32, false>>(cases, shape_of(32, 32, 8192, 128), "");
  add<SparqCase<32, true>>(cases, shape_of(32, 32, 8192, 2048), "");
  add<SparqCase<32, false>>(cases, shape_of(32, 32, 8192, 2048), "");
}

}  // namespace

void add_screening_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_toys(cases);
    return;
  }
  add_choices(cases);
  add_attention(cases);
  add_sparq(cases);
}

}  // namespace tiersim::kernels
