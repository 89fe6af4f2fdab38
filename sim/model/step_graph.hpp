#pragma once
// The tensors and operations of one inference step, without any timing. A workload builds one
// StepGraph, and sim/step reads it three ways (accounting, bound, engine), so that the table, the
// roofline and the simulation can never disagree about the bytes moved.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.hpp"
#include "sim/base/id.hpp"
#include "sim/base/small_vector.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

using TierId = Id<struct TierTag>;  ///< index into StepGraph::tier_names
using OpId = Id<struct OpTag>;      ///< index into StepGraph::ops

/// The purpose of a tensor. Every byte of footprint and traffic is counted under one class.
enum class TensorClass : std::uint8_t {
  weights,
  keys,
  values,
  key_copy,  ///< a second layout of the keys (SparQ)
  /// Projected, quantised keys (MAPLE) or columns of skewed ones (InfiniGen), used for screening
  /// only.
  lowrank_keys,
  page_bounds,      ///< smallest and largest key of each page, used for screening only (Quest)
  landmarks,        ///< mean key of each chunk, used for screening only (ShadowKV)
  index_keys,       ///< keys of an indexer, used for screening only (DeepSeek's, MiniMax's)
  compressed_rows,  ///< keys and values that stand for a block of positions each (NSA)
  scores,           ///< attention that each kept position has received so far (H2O)
  row_cache,        ///< copies in the near tier of far rows that are often chosen
  cross_rows,       ///< keys and values of an encoder's output
  states,           ///< of a sequence, as many bytes at every length: linear attention, windows
  indices,          ///< positions that screening chose
  activations,
  staging,    ///< near-tier buffers that fetched tensors land in
  workspace,  ///< partial results of split kernels, buffers of collectives, driver memory
};
inline constexpr std::array<std::string_view, 17> kTensorClassNames{
    "weights",   "keys",       "values",          "key_copy", "lowrank_keys", "page_bounds",
    "landmarks", "index_keys", "compressed_rows", "scores",   "row_cache",    "cross_rows",
    "states",    "indices",    "activations",     "staging",  "workspace"};
constexpr std::string_view name(TensorClass c) {
  return kTensorClassNames[static_cast<std::size_t>(c)];
}
/// Classes that grow with the sequences or their number: what the papers count as the KV cache,
/// and the states that stand in its place.
constexpr bool is_kv_cache(TensorClass c) {
  return c >= TensorClass::keys && c <= TensorClass::states;
}

/// The direction as the GPU sees it: a read moves bytes towards the GPU.
enum class Direction : std::uint8_t { read, write };
constexpr std::string_view name(Direction d) {
  return d == Direction::read ? "read" : "write";
}

/// The part of the step to which an operation belongs.
enum class Phase : std::uint8_t {
  embedding,
  projection,
  screening,
  gather,
  attention,
  write_back,
  mlp,
  head,
  collective,   ///< GPUs exchange or add up activations
  kv_transfer,  ///< the cache goes to the GPUs that decode
  host,         ///< the CPU between two steps
  weight_copy,  ///< of weights that lie in the far tier
};
inline constexpr std::array<std::string_view, 12> kPhaseNames{
    "embedding", "projection", "screening",  "gather",      "attention", "write_back",
    "mlp",       "head",       "collective", "kv_transfer", "host",      "weight_copy"};
constexpr std::string_view name(Phase p) {
  return kPhaseNames[static_cast<std::size_t>(p)];
}

/// The kernel that a compute operation runs; a ComputeUnit has one set of parameters for each.
enum class KernelFamily : std::uint8_t {
  gemm,                ///< products with weights
  attention,           ///< decode; every query head has keys of its own
  grouped_attention,   ///< decode; query heads share keys
  gathered_attention,  ///< decode over rows that an index list names
  latent_attention,    ///< decode over a compressed cache that serves all heads
  prefill_attention,
  screening,
  elementwise,
  experts,  ///< grouped products of a layer's experts; a gemm where the GPU has no numbers for them
  quantisation,      ///< of the input of a product, whose timings may hold it (MatrixShape)
  linear_attention,  ///< update and reading of a state of fixed size (LinearShape)
  causal_conv,       ///< short convolution over positions, before linear attention
  batched_gemm,      ///< a product for each head; a gemm if the GPU has no timings of them
};
inline constexpr std::array<std::string_view, 13> kKernelFamilyNames{"gemm",
                                                                     "attention",
                                                                     "grouped_attention",
                                                                     "gathered_attention",
                                                                     "latent_attention",
                                                                     "prefill_attention",
                                                                     "screening",
                                                                     "elementwise",
                                                                     "experts",
                                                                     "quantisation",
                                                                     "linear_attention",
                                                                     "causal_conv",
                                                                     "batched_gemm"};
constexpr std::string_view name(KernelFamily k) {
  return kKernelFamilyNames[static_cast<std::size_t>(k)];
}

/// The arithmetic of a compute operation, which selects the peak rate.
enum class Arithmetic : std::uint8_t {
  bf16,
  fp8,  ///< with a scale for a tensor or a channel
  int8,
  fp4,        ///< with a scale for 16 or 32 elements
  fp8_block,  ///< with a scale for 128 x 128 weights; other kernels run it than those of fp8
};
inline constexpr std::array<std::string_view, 5> kArithmeticNames{"bf16", "fp8", "int8", "fp4",
                                                                  "fp8_block"};
constexpr std::string_view name(Arithmetic a) {
  return kArithmeticNames[static_cast<std::size_t>(a)];
}

/// The unit that issues the memory requests of an operation.
enum class RequesterKind : std::uint8_t {
  sm,           ///< loads and stores of a kernel
  copy_engine,  ///< DMA, one descriptor for each contiguous run
  cpu,          ///< the host's CPUs, where keys and values lie
};
inline constexpr std::array<std::string_view, 3> kRequesterNames{"sm", "copy_engine", "cpu"};
/// The requesters that can copy, which are parts of the GPU: no CPU copies.
inline constexpr std::array<std::string_view, 2> kCopierNames{"sm", "copy_engine"};
constexpr std::string_view name(RequesterKind r) {
  return kRequesterNames[static_cast<std::size_t>(r)];
}

/// A tensor that stays in a tier for the whole step.
struct Tensor {
  TensorClass tensor_class = TensorClass::weights;
  TierId tier;
  Bytes size;
};

/// Bytes that an operation reads from or writes to one tier.
struct Access {
  TierId tier;
  Direction direction = Direction::read;
  TensorClass tensor_class = TensorClass::weights;
  Bytes payload;  ///< bytes requested
  Bytes run;  ///< contiguous bytes of a request, 0 < run <= payload; devices move whole granules
  /// Most bytes requested from a remote tier and not yet answered, where a kernel has fewer than
  /// its engine could; 0: the engine's.
  Bytes window{};

  friend bool operator==(const Access&, const Access&) = default;
};

/// Few operations have more of either.
using Accesses = SmallVector<Access, 5>;
using OpIds = SmallVector<OpId, 4>;

enum class OpKind : std::uint8_t {
  compute,     ///< a kernel: occupies the compute unit, in order
  transfer,    ///< moves bytes between tiers; occupies only the devices on its path
  collective,  ///< GPUs of a group meet, then move bytes over their ports; runs beside kernels
  host,        ///< work of the CPU; no other operation of the step runs meanwhile
};

/// The purpose of a group; a system may give each purpose its own network.
enum class Fabric : std::uint8_t {
  tensor,    ///< heads, latents and columns of products
  pipeline,  ///< layers
  experts,
  transfer,  ///< from the GPUs that prefill to those that decode
  context,   ///< positions of a prompt
  ffn,       ///< between the GPUs that attend and those that have the MLPs
};
inline constexpr std::array<std::string_view, 6> kFabricNames{"tensor",   "pipeline", "experts",
                                                              "transfer", "context",  "ffn"};
constexpr std::string_view name(Fabric f) {
  return kFabricNames[static_cast<std::size_t>(f)];
}

/// The kinds of GPUs that a step runs on.
enum class GpuRole : std::uint8_t {
  main,  ///< all of it, or the attention where other GPUs have the MLPs
  ffn,   ///< the MLPs and experts of a step whose attention is on others
};
inline constexpr std::size_t kGpuRoles = 2;

/// One collective, as one rank sees it. `size` counts as in NCCL's tests: the bytes that a rank
/// holds before an all-reduce, reduce-scatter, all-to-all (with its own part) or send, and after an
/// all-gather.
struct CollectiveWork {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Fabric fabric = Fabric::tensor;
  Bytes size;
  std::int64_t ranks = 1;
  /// In an all-to-all that dispatches tokens to experts: the number of experts of a token. `size`
  /// has a row for each of them.
  std::int64_t copies = 1;
  /// Rows that the most loaded rank of such an all-to-all receives, over the rows that each sends.
  double hot = 1;
  Bytes received{};  ///< of a send between GPUs of different roles: by each receiver

  friend bool operator==(const CollectiveWork&, const CollectiveWork&) = default;
};

/// The state of the input of a low-precision GEMM (fp8, fp4 or int8). Timings of such a GEMM
/// include the quantisation of its input: one pass finds the scale, another divides the input by
/// it.
enum class ProductInput : std::uint8_t {
  unscaled,  ///< bf16: the GEMM takes its timed duration
  scaled,    ///< bf16 with a known scale: only the division is left to do
  quantised  ///< the operation before wrote it in the low-precision type
};

/// A product of `count` pairs of matrices, rows x depth times depth x columns each. Rows are 0 if
/// the operation is no such product.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  std::int64_t count = 1;
  /// Bits of one stored element of the second matrix, its share of a group's scale included. 0
  /// means that the matrix is stored in the type that the arithmetic multiplies.
  double weight_bits = 0;
  /// Equal second matrices that a benchmark goes round, of which those that fit stay in L2; 0 in a
  /// step, which reads many others in between.
  std::int64_t copies = 0;
  ProductInput input = ProductInput::unscaled;

  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Attention of new tokens over themselves and the positions before them. Sequences are 0 if the
/// operation is no such attention.
struct AttentionShape {
  std::int64_t sequences = 0;
  std::int64_t heads = 0;  ///< of queries
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t tokens = 1;    ///< new ones of a sequence
  std::int64_t before = 0;    ///< positions before them
  std::int64_t window = 0;    ///< positions of a sliding window; 0: none
  std::int64_t kv_bits = 16;  ///< of an element of the cache

  friend bool operator==(const AttentionShape&, const AttentionShape&) = default;
};

/// The experts of one layer on one GPU, of which an operation is one product. Tokens are 0 if the
/// operation is none.
struct ExpertsShape {
  std::int64_t tokens = 0;  ///< of all GPUs that share the routed experts
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< width of a routed expert on this GPU
  std::int64_t top_k = 0;         ///< routed experts of a token
  std::int64_t experts = 0;       ///< routed experts of all GPUs
  std::int64_t held = 0;          ///< routed experts of this GPU
  std::int64_t reached = 0;       ///< of those, with at least one token
  std::int64_t routed = 0;        ///< pairs of a token and an expert of this GPU
  bool gated = true;
  double weight_bits = 16;         ///< of an element with its part of a scale
  std::int64_t shared_tokens = 0;  ///< of the shared experts
  std::int64_t shared_width = 0;   ///< of all shared experts on this GPU; 0: none
  std::int64_t shared_hidden = 0;  ///< width of the hidden state that shared experts read
  double shared_bits = 0;          ///< as weight_bits
  Arithmetic shared_arithmetic = Arithmetic::bf16;
  bool shared_beside = false;  ///< shared experts run at the same time as the routed ones
  std::int64_t part = 1;       ///< of the work of the layer's experts: `part` of `parts`
  std::int64_t parts = 1;
  double skew = 0;  ///< exponent of a power law that the loads follow; 0: all reached have the mean

  friend bool operator==(const ExpertsShape&, const ExpertsShape&) = default;
};

/// Linear attention of new tokens, or the convolution before it. Sequences are 0 if the operation
/// is neither.
struct LinearShape {
  std::int64_t sequences = 0;
  std::int64_t tokens = 1;  ///< new ones of a sequence
  bool decode = true;       ///< one token a sequence, by the kernel that updates the state in place
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;  ///< each has a state of key_dim x value_dim
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t taps = 0;         ///< positions under the convolution
  std::int64_t state_bits = 32;  ///< of an element of a state
  /// Decay by element of the key (Kimi Delta Attention), or by head.
  bool decay_by_element = false;
  /// The state's own answer to a key corrects what it learns (delta rules), or not (Mamba-2).
  bool corrects = true;

  friend bool operator==(const LinearShape&, const LinearShape&) = default;
};

/// A part of attention over positions that an indexer chose (IndexerConfig).
enum class IndexedPart : std::uint8_t {
  module,  ///< all of it with its products; no operation of a step, but what was timed
  scores,  ///< of the positions, by the indexer's heads
  choice,  ///< of the best
  attention,
};

/// Attention over positions that an indexer chose, of new tokens over themselves and the positions
/// before them. Sequences are 0 if the operation is no such attention.
struct IndexedShape {
  IndexedPart part = IndexedPart::module;
  std::int64_t sequences = 0;
  std::int64_t tokens = 1;  ///< new ones of a sequence
  std::int64_t before = 0;  ///< positions before them
  std::int64_t heads = 0;   ///< of queries
  std::int64_t index_heads = 0;
  std::int64_t top_k = 0;     ///< positions that a query attends to
  std::int64_t block = 1;     ///< of those, that are chosen together; more than 1: by each KV head
  std::int64_t kv_bits = 16;  ///< of an element of the cache
  std::int64_t weights = 0;   ///< of a module: elements of the matrices of its products
  double weight_bits = 16;    ///< of a module: of such an element

  friend bool operator==(const IndexedShape&, const IndexedShape&) = default;
};

struct Op {
  OpKind kind = OpKind::compute;
  GpuRole role = GpuRole::main;  ///< of the GPU that runs it, or that sends
  Phase phase = Phase::projection;
  int layer = -1;  ///< -1: not part of a layer
  KernelFamily family = KernelFamily::gemm;
  Arithmetic arithmetic = Arithmetic::bf16;
  RequesterKind requester = RequesterKind::sm;
  Flops flops;                 ///< as executed
  Flops padding = {};          ///< the part of them that fills tiles without adding to the result
  MatrixShape matrix{};        ///< for a gemm
  AttentionShape attention{};  ///< for dense attention
  ExpertsShape experts{};      ///< for a product of experts
  LinearShape linear{};        ///< for linear attention and its convolution
  IndexedShape indexed{};      ///< for attention that an indexer chooses for
  bool fused = false;          ///< part of another kernel: without a launch of its own
  bool warm = false;           ///< in a benchmark, whose input is in L2 as far as it fits
  double sm_share = 1;         ///< of the GPU's SMs, that its arithmetic may use; above 0
  CollectiveWork collective{};
  Duration lookup{};     ///< of a transfer: its kernel's time before the first request
  Duration host_time{};  ///< of work on the CPU; 0: as long as the system's CPU takes for a step
  Accesses accesses = {};
  OpIds after = {};  ///< operations that must finish first; each id below this one's
};

struct StepGraph {
  std::vector<std::string> tier_names = {};
  std::vector<Tensor> tensors = {};
  std::vector<Op> ops = {};
  /// Tokens that the step produces, over all sequences; of a speculative step, those without an
  /// accepted draft.
  std::int64_t tokens = 0;
  std::size_t drafting = 0;  ///< operations of a draft, which come first

  /// Appends an operation. Its dependencies must already be in the graph, so the graph is acyclic
  /// by construction. Invalid ids, which stand for operations that the step leaves out, are
  /// dropped.
  OpId add(Op&& op);
  OpId add(const Op& op) { return add(Op(op)); }
};

/// True where both have the same work for the hardware, wherever they stand in a step.
bool same_work(const Op& a, const Op& b);

/// "layer 3 attention", "head": for traces and messages.
std::string describe_op(const Op& op);

}  // namespace tiersim
