// F4 of kernels/campaign/composition.hpp: 128 decode steps of one layer while the cache grows from
// 1024 to 1152 tokens, in 8 lengths of 16 steps each (a length for each step would take 128
// caches).
#include "kernels/campaign/composition.hpp"
#include "kernels/cases/dense_decode_case.cuh"
#include "kernels/cases/splits.hpp"

namespace tiersim::kernels::bench {

void add_growing_decode(std::vector<Sequence>& all, Sizes sizes) {
  const bool toy = sizes == Sizes::toy;
  const int lengths = toy ? 2 : 8;
  const int steps_each = toy ? 2 : 16;
  const int first = toy ? 30 : 1024;
  const CaseList none;
  for (const int batch : toy ? std::vector<int>{1} : std::vector<int>{1, 16}) {
    SequenceMaker maker("F4", "f4.decode.b" + std::to_string(batch), none, sizes);
    maker.parameter("steps", lengths * steps_each).parameter("batch", batch);
    maker.parameter("first_context", first);
    maker.label("lengths in steps of " + std::to_string(steps_each) + " tokens");
    for (int i = 0; i < lengths; ++i) {
      DenseShape shape;
      shape.batch = batch;
      shape.kv_heads = toy ? 1 : 32;
      shape.context = first + steps_each * (i + 1);
      const std::int64_t blocks = std::int64_t{batch} * shape.kv_heads;
      // The same splits as in the dense family: three blocks of 128 tokens a multiprocessor.
      const int splits = splits_for(blocks, shape.context,
                                    {.slots = 132 * 3, .start_tokens = 128, .part_tokens = 2});
      Part part;
      part.entry.name =
          "f4.decode.b" + std::to_string(batch) + "-s" + std::to_string(shape.context);
      part.entry.make = [shape, splits] {
        return std::make_unique<DenseDecodeCase<1>>(shape, splits);
      };
      const std::size_t number = maker.part(std::move(part));
      for (int step = 0; step < steps_each; ++step) maker.step(number);
    }
    maker.add_to(all);
  }
}

std::vector<Sequence> compositions(const CaseList& cases, Sizes sizes) {
  std::vector<Sequence> all;
  add_screened_layers(all, cases, sizes);
  add_shards(all, cases, sizes);
  add_exits(all, cases, sizes);
  add_growing_decode(all, sizes);
  return all;
}

}  // namespace tiersim::kernels::bench
