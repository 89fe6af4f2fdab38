#pragma once
// The context of each layer's attention where layers attend in different ways. A method sees layers
// of one type only: the model in its context has the layers of that type (LlmConfig::layers_of).
#include <cstdint>
#include <vector>

#include "workloads/attention/method.hpp"

namespace tiersim {

class LayerContexts {
 public:
  /// `whole` has the model with all layers, and must outlive this.
  explicit LayerContexts(const AttentionContext& whole);

  const AttentionContext& of(std::int64_t layer) const;
  /// One for each type of layer that a method is for, in the order in which the types first appear:
  /// not of linear attention, nor of layers that have no attention.
  std::vector<const AttentionContext*> all() const;

 private:
  struct OfType {
    LayerType type;
    AttentionContext context;
  };

  const AttentionContext& whole_;
  std::vector<OfType> types_;  // empty where all layers are alike
};

/// Tensors that the method caches, of one layer of each type, with the number of such layers.
struct LayersCached {
  std::int64_t layers = 0;
  std::vector<CachedTensor> tensors = {};
  std::int64_t chunk = 0;  ///< positions that attend to each other only; 0: there are no chunks
};
std::vector<LayersCached> cached_by_type(const Method& method, const AttentionContext& whole);

}  // namespace tiersim
