// Decode attention over a dense cache, for any kernel: inputs, scratch, reference.
//
// q [batch, kv_heads group, head_dim] bf16, the query heads of a key head together; k, v [batch,
// kv_heads, context, head_dim] bf16; lengths [batch] int32; out as q.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/runtime/array.cuh"

namespace tiersim::kernels {

struct DenseShape {
  int batch = 1;
  int context = 0;  // capacity of the cache in tokens, for each sequence
  int kv_heads = 1;
  int group = 1;  // query heads of a key head
  int head_dim = 128;
  std::vector<int> lengths = {};  // [batch], 0 to context; empty: all context
  float amplitude = 1;            // standard deviation of the logits; 0 makes all equal
};

class DenseProblem : public Case {
 public:
  // splits: number of parts of a sequence in scratch.
  DenseProblem(DenseShape shape, int splits);

  std::int64_t set_bytes() const override;
  void prepare(int sets, std::uint64_t seed) override;
  Agreement check(int set) override;

 protected:
  struct Arrays {
    explicit Arrays(const DenseProblem& problem);
    DeviceArray<bf16> q, k, v, out;
  };

  const DenseShape& shape() const { return shape_; }
  int splits() const { return splits_; }
  int rows() const { return shape_.batch * shape_.kv_heads * shape_.group; }  // of q and out
  float scale() const;  // of the logits, natural
  std::vector<std::pair<std::string, std::int64_t>> named_shape() const;

  // Valid after prepare().
  Arrays& arrays(int set) { return arrays_[static_cast<std::size_t>(set)]; }
  const int* device_lengths() const { return shared_.at(0).lengths.data(); }
  float* partial() { return shared_.at(0).partial.data(); }  // [splits, rows, head_dim]
  float* lse() { return shared_.at(0).lse.data(); }          // [splits, rows]

 private:
  struct Shared {
    explicit Shared(const DenseProblem& problem);
    DeviceArray<int> lengths;
    DeviceArray<float> partial, lse;
  };
  enum class Input { q, k, v };
  std::uint64_t seed_of(int set, Input input) const;
  std::vector<float> rows_of(int set, Input input, int batch, int kv_head) const;
  void compare(class Difference& difference, const std::vector<bf16>& out, int set, int batch,
               int kv_head) const;

  DenseShape shape_;
  int splits_;
  std::uint64_t seed_ = 0;
  std::vector<Arrays> arrays_;
  std::vector<Shared> shared_;  // one, or none before prepare
};

}  // namespace tiersim::kernels
