#pragma once
// The element types of the weights that a Hugging Face configuration file states
// (quantization_config): those of schemes whose weights a step can have.
//
//   fp8                  fp8 in blocks of 128 x 128, or with a scale for a tensor; with
//   expert_dtype
//                        fp4, experts in MXFP4 (DeepSeek-V4)
//   mxfp4                experts in MXFP4, all else in bf16 (gpt-oss)
//   compressed-tensors   one group of all products: int4 in groups of 32 or 128, int8, fp8, NVFP4,
//                        MXFP4
//   modelopt             NVFP4 or FP8, where the configuration itself states it
//   gptq, awq            int4 in groups of 32 or more, int8
//
// Embedding, head, router, norms and biases stay in bf16. Modules that the file leaves out do, too,
// if they are one part of the model (attention, MLP, experts, shared experts) in all of its layers.
#include <string>

namespace tiersim {

class HfKeys;
struct LlmConfig;

/// Sets LlmConfig::weights, and returns what the model's source says of it; empty where the file
/// states nothing. Of any other scheme the model has no types, and the text says why and what to
/// write instead.
std::string read_quantisation(HfKeys& keys, LlmConfig& model);

}  // namespace tiersim
