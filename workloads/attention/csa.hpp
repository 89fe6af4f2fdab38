#pragma once
// Method card: csa (compressed attention of DeepSeek-V4, arXiv 2606.19348, section 2.3; modular_
// deepseek_v4.py of transformers; the row and the index key as vLLM keeps them, fp8_ds_mla)
//   Keeps     one row of head_dim elements for `positions` positions of a sequence, which all heads
//             read as key and value; beside an indexer an index key for each such row; and states
//             of a fixed size: a ring of the last attention_window uncompressed rows, and in fp32
//             what the next rows are made of (CompressionConfig::state). Under fp8_block a row has
//             448 elements of fp8, 64 rotary ones of bf16 and 8 bytes of scales: 584 bytes.
//   Step      the new row enters the ring. The compressor keeps its inputs and gates; every
//             `positions` steps it makes a row of them, of which a step has the mean here. Sparse
//             layers score all rows and read the top_k best, heavy layers read every row; all read
//             the window.
//   Bytes     of a sequence and layer with n positions, w = min(n, window), r = floor(n /
//             positions): w rows of the ring; min(top_k, r) rows in runs of a row, or r rows in one
//             run; index keys r * 132 and scores r * 4, twice; of each input and gate of a new
//             position the compressor writes 4 bytes and reads 4.
//   FLOPs     attention 4 * heads * head_dim * (w + rows read); scores 2 * index heads * index
//             width * r in fp8; the indexer 2 * its weights.
//   Prefill   a query at the n-th position sees floor(n / positions) rows. Rows that an indexer
//             chose are read by each query, the window and the rows of heavy layers once.
//   Drafts    each new position of a step reads rows of its own; the window is read once.
//   GPUs      of a tensor group each make and keep every row and run the whole indexer.
//   Beside    the paper, at 1048576 positions: DeepSeek-V4-Pro has 10 % of V3.2's cache and 27 % of
//             its FLOPs of a token, DeepSeek-V4-Flash 7 and 10 %. Here they have 11.5 and 8.0 % of
//             the cache, 10.5 and 7.3 % with index keys in FP4 (indexer.key_type: mxfp4, 68 bytes
//             instead of 132, as vLLM keeps them on request), and 26.2 and 12.1 % of the FLOPs, of
//             which each counts as one whatever its type.
//   Ignores   products of FP4 keys at the rate of FP4 (they are widened to fp8); the Hadamard
//             rotation of queries and index keys; the state before rejected drafts, which engines
//             keep; FLOPs of gates and norms; where a step makes a row and others make none.
#include "workloads/attention/method.hpp"

namespace tiersim {

void register_csa(Registry<MethodKind>& registry);

/// Bytes of one row that all heads read as key and value. Under fp8_block 64 elements share a scale
/// of 8 bits, whose bytes are padded to a multiple of 8, and the last `rotary` elements are bf16.
Bytes shared_row(std::int64_t width, std::int64_t rotary, DataType type);

/// Bytes of one sequence in a layer that do not grow with its length: the ring of the window, and
/// what the compressors of the rows and of the index keys keep. Of the layers of one type.
Bytes compressed_state(const LlmConfig& model, DataType kv_type);

}  // namespace tiersim
