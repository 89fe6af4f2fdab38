// Decode attention over a latent cache, for any kernel: inputs, scratch, reference.
//
// q [batch, heads, latent + rope] bf16, kv [batch, context, latent + rope] bf16 with keys the whole
// row and values its latent part, lengths [batch] int32, out [batch, heads, latent] bf16. Paged:
// kv [pages, 64, latent + rope], the page of tokens 64 t.. of sequence b in page_table[b][t]; the
// pages of a sequence are scattered.
#pragma once
#include <string>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/runtime/array.cuh"

namespace tiersim::kernels {

struct LatentShape {
  int batch = 1;
  int context = 0;  // capacity of the cache in tokens, for each sequence
  int heads = 0;
  int latent_dim = 0;
  int rope_dim = 0;
  std::vector<int> lengths = {};  // [batch], 0 to context; empty: all context
  bool paged = false;
  float amplitude = 1;  // standard deviation of the logits; 0 makes all equal
};

class LatentProblem : public Case {
 public:
  static constexpr int kPageTokens = 64;

  // splits: number of parts of a sequence in scratch.
  LatentProblem(LatentShape shape, int splits);

  std::int64_t set_bytes() const override;
  void prepare(int sets, std::uint64_t seed) override;
  Agreement check(int set) override;

 protected:
  struct Arrays {
    explicit Arrays(const LatentProblem& problem);
    DeviceArray<bf16> q, kv, out;
  };

  const LatentShape& shape() const { return shape_; }
  const std::vector<int>& lengths() const { return shape_.lengths; }
  int splits() const { return splits_; }
  int row_dim() const { return shape_.latent_dim + shape_.rope_dim; }
  int rows() const { return shape_.batch * shape_.heads; }  // of q and out
  int pages_per_sequence() const { return (shape_.context + kPageTokens - 1) / kPageTokens; }
  std::int64_t tokens() const;      // of all sequences, by their lengths
  std::int64_t cache_rows() const;  // tokens in kv of all sequences, free places included
  float scale() const;              // of the scores, natural
  std::string shape_name() const;   // b64-s32768-h128-d512.64
  std::vector<std::pair<std::string, std::int64_t>> named_shape() const;

  // Valid after prepare(). All sets share the arrays that do not depend on the inputs.
  Arrays& arrays(int set) { return arrays_[static_cast<std::size_t>(set)]; }
  const int* device_lengths() const { return shared_.at(0).lengths.data(); }
  const int* device_pages() const;  // [batch, pages_per_sequence], null unless paged
  float* partial() { return shared_.at(0).partial.data(); }  // [splits, rows, latent]
  float* lse() { return shared_.at(0).lse.data(); }          // [splits, rows]

 private:
  struct Shared {
    explicit Shared(const LatentProblem& problem);
    DeviceArray<int> lengths, pages;
    DeviceArray<float> partial, lse;
  };
  std::uint64_t seed_of(int set, bool keys) const;
  std::vector<float> rows_of_sequence(int set, int sequence) const;

  LatentShape shape_;
  int splits_;
  std::uint64_t seed_ = 0;
  std::vector<int> pages_;
  std::vector<Arrays> arrays_;
  std::vector<Shared> shared_;  // one, or none before prepare
};

}  // namespace tiersim::kernels
