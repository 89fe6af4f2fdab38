// F1, F2 and F3 of kernels/campaign/composition.hpp.
#include "kernels/campaign/composition.hpp"

namespace tiersim::kernels::bench {
namespace {

// Layers of two micro-batches, overlapped on both streams of the card.
void overlap_layers(SequenceMaker& maker, int layers, std::size_t screen, std::size_t gather,
                    std::size_t attend) {
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<int> gathered;
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      const int chosen = maker.step(screen);
      gathered.push_back(maker.step(gather, 1, {chosen}));
    }
    for (const int rows : gathered) maker.step(attend, 0, {rows});
  }
}

}  // namespace

// A batch of 16 sequences of 8192 tokens, 32 heads, 2048 tokens chosen: K and V are 2 x 1 048 576
// rows of 256 B, the 512 MB of the gather.
void add_screened_layers(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes) {
  const int layers = sizes == Sizes::toy ? 2 : 8;
  const std::string shape = "b16-h32-s8192-k2048";
  const auto begin = [&](const std::string& name) {
    SequenceMaker maker("F1", "f1." + name, cases, sizes);
    maker.parameter("layers", layers).parameter("batch", 16);
    maker.label("rows over PCIe from pinned host memory; no CXL");
    return maker;
  };
  for (const std::string way : {"loads", "bulk"}) {
    SequenceMaker serial = begin("layers." + way);
    SequenceMaker overlapped = begin("two_micro_batches." + way);
    for (SequenceMaker* maker : {&serial, &overlapped}) {
      const std::size_t screen = maker->part({"screening.maple_screen."}, shape);
      const std::size_t gather =
          maker->part({"host_gather.gather." + way}, "row256b.512mb.blocks64");
      const std::size_t attend = maker->part({"screening.selected_attention."}, shape);
      if (maker == &overlapped) {
        overlap_layers(*maker, layers, screen, gather, attend);
        continue;
      }
      for (int layer = 0; layer < layers; ++layer) {
        for (const std::size_t part : {screen, gather, attend}) maker->step(part);
      }
    }
    serial.add_to(all);
    overlapped.add_to(all);
    for (const std::string size : {"4mb", "64mb"}) {
      std::string name = "f1.gather_latency." + way;
      name.append(".").append(size);
      SequenceMaker alone("F1", name, cases, sizes);
      alone.label("one gather a replay: its percentiles are those of the latency");
      alone.step(alone.part({"host_gather.gather." + way}, "row256b." + size + ".blocks64"));
      alone.add_to(all);
    }
  }
}

// One layer of 64 sequences of 32768 tokens on two tensor-parallel shards: 128 heads over a latent
// of 256 each. The join adds the shards' hidden states, 64 x 7168 bf16, close to 1 MB.
void add_shards(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes) {
  const auto begin = [&](const std::string& name) {
    SequenceMaker maker("F2", "f2." + name, cases, sizes);
    maker.parameter("shards", 2).parameter("batch", 64).parameter("context", 32768);
    maker.label("both shards on one card; no NVLink");
    return maker;
  };
  const std::vector<std::string> shard = {"latent.latent_decode.wgmma.tpla"};
  const std::string shape = "tpla-b64-s32768-h128-d256";
  SequenceMaker serial = begin("serial");
  const std::size_t one = serial.part(shard, shape);
  serial.step(one);
  serial.step(one);
  serial.add_to(all);
  SequenceMaker streams = begin("two_streams");
  const std::size_t each = streams.part(shard, shape);
  streams.step(each, 0);
  streams.step(streams.again(each), 1);
  streams.add_to(all);
  SequenceMaker joined = begin("joined_through_host");
  joined.label("PCIe, there and back, in place of NVLink");
  joined.label("copies of 1 MB, 14 % more than the hidden states have");
  const std::size_t part = joined.part(shard, shape);
  const std::size_t out = joined.part({"ceiling.copy_engine.d2h."}, "d2h.1mb");
  const std::size_t in = joined.part({"ceiling.copy_engine.h2d."}, "h2d.1mb");
  const std::size_t add = joined.part({"latent.join_shards."}, "b64-w7168");
  joined.step(part, 0);
  joined.step(joined.again(part), 1);
  const int left = joined.step(out, 1);
  joined.step(in, 0, {left});
  joined.step(add, 0);
  joined.add_to(all);
}

// The T5 decoder of 12 layers: every layer, the measure after each, and at the exit the keys and
// values of all layers that were skipped.
void add_exits(std::vector<Sequence>& all, const CaseList& cases, Sizes sizes) {
  const bool toy = sizes == Sizes::toy;
  const int deepest = toy ? 2 : 12;
  struct Measure {
    std::string name;
    std::vector<std::string> tokens;
  };
  const std::vector<Measure> measures = {{"softmax", {"early_exit.lm_head.rows128."}},
                                         {"state", {"early_exit.residual_vote.cosine."}},
                                         {"classifier", {"early_exit.residual_vote.classifier."}}};
  for (const int batch : toy ? std::vector<int>{5} : std::vector<int>{1, 8, 64, 256}) {
    const std::string model = "t5-base-b" + std::to_string(batch);
    for (const Measure& measure : measures) {
      for (int exit = 1; exit <= deepest; ++exit) {
        SequenceMaker maker(
            "F3",
            "f3." + measure.name + ".b" + std::to_string(batch) + ".exit" + std::to_string(exit),
            cases, sizes);
        maker.parameter("batch", batch).parameter("exit", exit).parameter("layers", deepest);
        maker.label("the exit is given, not decided: no accuracy");
        const std::size_t layer = maker.part({"early_exit.", "_layer."}, model);
        const std::size_t vote = maker.part(measure.tokens, model);
        for (int done = 0; done < exit; ++done) {
          maker.step(layer);
          maker.step(vote);
        }
        if (exit < deepest) {
          // The cases fill 1, 6 or 11 layers; the smallest that covers the skipped layers is used.
          const int skipped = deepest - exit;
          const int filled = skipped <= 1 ? 1 : skipped <= 6 ? 6 : 11;
          maker.parameter("filled_layers", filled);
          maker.step(maker.part({"early_exit.kv_fill."}, "t5-base-l" + std::to_string(filled) +
                                                             "-b" + std::to_string(batch)));
        }
        maker.add_to(all);
      }
    }
  }
}

}  // namespace tiersim::kernels::bench
