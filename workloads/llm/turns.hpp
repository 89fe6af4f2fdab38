#pragma once
// Micro-batches that take turns on the GPU, as engines with two batches in flight run them
// (DeepSeek's profile-data, vLLM's dual batch overlap): a micro-batch issues its kernels until one
// waits for a copy or a collective, then it is the other one's turn.
//
//   turn of an operation   the largest number of copies and collectives on a way to it
//   order of kernels       by turn, then by micro-batch, then as each micro-batch has them
//
// The order is fixed before the step begins, as in a stream of a GPU. If the GPU took whichever
// kernel is ready first, then a faster path to a tier could make a step slower (Graham's anomalies
// of list scheduling): a kernel that is ready a little earlier can hold up one that a long copy
// waits for. Checked by tests/theory/pipeline_test.cpp and
// tests/validation/faster_hardware_test.cpp.
#include <vector>

#include "sim/model/step_graph.hpp"

namespace tiersim {

/// The same operations in the order above, each kernel after the one before it on the same kind of
/// GPU. `batch_of` names the micro-batch of each operation of the graph.
StepGraph in_turns(StepGraph graph, const std::vector<int>& batch_of);

}  // namespace tiersim
