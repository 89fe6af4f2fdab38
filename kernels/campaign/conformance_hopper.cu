// Data movement of sm_90: transaction barriers, bulk and tensor copies, bulk stores, named
// barriers, register reallocation.
#include <cstring>
#include <utility>

#include "kernels/campaign/conformance.hpp"
#include "kernels/device/hopper.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/runtime/tensor_map.cuh"

namespace tiersim::kernels::conformance {
namespace {

// 128 threads arrive for each of six phases. Every thread records the value that its neighbour in
// another warp stored before it arrived, and that waits for finished phases return.
__global__ void phases(const std::uint32_t* in, std::uint32_t* out) {
  auto* barrier = shared_memory<std::uint64_t>();
  auto* words = shared_memory<std::uint32_t>(16);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 128);
    barrier_init(barrier + 1, 1);
    fence_barrier_init();
  }
  __syncthreads();
  barrier_wait(barrier, 1);
  std::uint32_t mixed = load(in + threadIdx.x);
  for (unsigned phase = 0; phase < 6; ++phase) {
    words[128U * (phase % 2U) + threadIdx.x] = mixed + phase;
    barrier_arrive(barrier);
    barrier_wait(barrier, static_cast<int>(phase % 2U));
    mixed = mixed * 5U + words[128U * (phase % 2U) + (threadIdx.x ^ 96U)];
  }
  store(out + threadIdx.x, mixed);
}

// A ring of two stages of 512 bytes: warp 0 copies, warps 1 to 3 read and release. The sum of a
// stage depends on its position in the ring, so that a stage read early or late shows.
__global__ void ring(const std::uint32_t* in, std::uint32_t* out) {
  constexpr unsigned kStages = 2;
  constexpr unsigned kTiles = 7;
  constexpr unsigned kWords = 128;
  auto* full = shared_memory<std::uint64_t>();
  auto* empty = full + kStages;
  auto* data = shared_memory<std::uint32_t>(128);
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < kStages; ++i) {
      barrier_init(full + i, 1);
      barrier_init(empty + i, 96);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 32U) {
    for (unsigned tile = 0; tile < kTiles && threadIdx.x == 0; ++tile) {
      const unsigned stage = tile % kStages;
      barrier_wait(empty + stage, static_cast<int>(tile / kStages % 2U ^ 1U));
      barrier_arrive_expect(full + stage, 4 * kWords);
      for (unsigned part = 0; part < kWords; part += 32) {  // four copies a stage
        bulk_load(data + stage * kWords + part, in + tile * kWords + part, 128, full + stage);
      }
    }
    return;
  }
  std::uint32_t sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const unsigned stage = tile % kStages;
    barrier_wait(full + stage, static_cast<int>(tile / kStages % 2U));
    for (unsigned i = 0; i < kWords; i += 3) {
      sum = sum * 31U + data[stage * kWords + (threadIdx.x + i) % kWords];
    }
    barrier_arrive(empty + stage);
  }
  store(out + threadIdx.x - 32U, sum);
}

// Copies of 16, 48 and 1024 bytes on one barrier, read back in order.
__global__ void bulk(const std::uint32_t* in, std::uint32_t* out) {
  auto* barrier = shared_memory<std::uint64_t>();
  auto* to = shared_memory<std::uint32_t>(128);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    fence_barrier_init();
    barrier_arrive_expect(barrier, 16 + 48 + 1024);
    bulk_load(to, in + 4, 16, barrier);
    bulk_load(to + 4, in + 20, 48, barrier);
    bulk_load(to + 16, in + 64, 1024, barrier);
  }
  __syncthreads();
  barrier_wait(barrier, 0);
  for (unsigned i = threadIdx.x; i < 272; i += blockDim.x) store(out + i, to[i]);
}

__global__ void store_in_bulk(const std::uint32_t* in, std::uint32_t* out) {
  auto* from = shared_memory<std::uint32_t>();
  from[threadIdx.x] = load(in + threadIdx.x) ^ threadIdx.x;
  fence_async_proxy();
  __syncthreads();
  if (threadIdx.x % 64U == 0) {  // two threads, two groups each
    bulk_store(out + threadIdx.x, from + threadIdx.x, 16);
    bulk_store_commit();
    bulk_store(out + threadIdx.x + 4U, from + threadIdx.x + 4U, 240);
    bulk_store_commit();
    bulk_store_wait<1>();
    bulk_store_wait<0>();
  }
}

// Two warps pass numbers to two others and back, by named barriers at which one side only arrives.
__global__ void named(const std::uint32_t* in, std::uint32_t* out) {
  auto* words = shared_memory<std::uint32_t>();
  std::uint32_t value = load(in + threadIdx.x);
  for (int turn = 0; turn < 4; ++turn) {
    if (threadIdx.x < 64U) {
      words[threadIdx.x] = value;
      named_barrier_arrive(1, 128);
      named_barrier_wait(2, 128);
      value = value * 3U + words[64U + (threadIdx.x ^ 33U)];
      named_barrier_wait(4, 64);
    } else {
      named_barrier_wait(1, 128);
      words[threadIdx.x] = words[(threadIdx.x - 64U) ^ 32U] + value;
      value = value * 7U + 1U;
      named_barrier_arrive(2, 128);
      named_barrier_wait(3, 64);
    }
  }
  store(out + threadIdx.x, value);
}

// A warpgroup releases registers and another takes them; nothing else changes.
__global__ void __launch_bounds__(256, 1) registers(const std::uint32_t* in, std::uint32_t* out) {
  const std::uint32_t value = load(in + threadIdx.x);
  if (threadIdx.x < 128U) {
    lower_registers<40>();
    store(out + threadIdx.x, value + 1U);
  } else {
    raise_registers<232>();
    store(out + threadIdx.x, value + 2U);
  }
}

// One box of a tensor of 24 x 128 numbers, in its layout in shared memory.
__global__ void box(const __grid_constant__ TensorMap map, int x, int y, int words,
                    std::uint32_t* out) {
  auto* barrier = shared_memory<std::uint64_t>(static_cast<std::size_t>(words) * 4);
  auto* to = shared_memory<std::uint32_t>();
  if (threadIdx.x == 0) {
    prefetch_tensor_map(&map);
    barrier_init(barrier, 1);
    fence_barrier_init();
    barrier_arrive_expect(barrier, words * 4);
    tensor_load(to, &map, barrier, x, y);
  }
  __syncthreads();
  barrier_wait(barrier, 0);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += 32) store(out + i, to[i]);
}

struct Box {
  const char* name;
  unsigned rows, columns;
  int x, y;
  bool swizzled;
};

Words copy_box(const Box& shape) {
  Stream stream;
  const Words words = random_words(24 * 64, 17);
  std::vector<bf16> numbers(words.size() * 2);
  std::memcpy(static_cast<void*>(numbers.data()), words.data(), words.size() * 4);
  const DeviceArray<bf16> tensor(numbers, "tensor");
  const int count = static_cast<int>(shape.rows * shape.columns / 2);
  DeviceArray<std::uint32_t> out(unwritten(static_cast<std::size_t>(count)), "out");
  const TensorMap map =
      make_tensor_map(tensor.data(), 24, 128, 256, shape.rows, shape.columns, shape.swizzled);
  launch(stream, box, {dim3(1), dim3(32), static_cast<std::size_t>(count) * 4 + 8}, map, shape.x,
         shape.y, count, out.data());
  stream.synchronize();
  return out.download();
}

}  // namespace

void add_hopper_probes(Probes& probes) {
  const auto add = [&](const char* name, Kernel kernel, unsigned threads, std::size_t shared,
                       std::size_t in, std::size_t out) {
    probes.push_back(probe(name, kernel, {dim3(1), dim3(threads), shared}, random_words(in, in),
                           unwritten(out)));
  };
  add("hopper.barrier_phases", phases, 128, 16 + 2 * 128 * 4, 128, 128);
  add("hopper.bulk_ring", ring, 128, 128 + 2 * 512, 7 * 128, 96);
  add("hopper.bulk_load", bulk, 64, 128 + 272 * 4, 320, 272);
  add("hopper.bulk_store", store_in_bulk, 128, 512, 128, 128);
  add("hopper.named_barriers", named, 128, 512, 128, 128);
  add("hopper.register_reallocation", registers, 256, 0, 256, 256);
  for (const Box& shape : {Box{"hopper.tensor_plain", 4, 32, 16, 3, false},
                           Box{"hopper.tensor_swizzled", 16, 64, 64, 5, true},
                           Box{"hopper.tensor_rows_outside", 8, 64, 0, 20, true},
                           Box{"hopper.tensor_columns_outside", 8, 64, 96, 0, true},
                           Box{"hopper.tensor_before_the_start", 8, 64, -8, -3, true},
                           Box{"hopper.tensor_all_outside", 8, 64, 512, 99, true}}) {
    probes.push_back({shape.name, [shape] { return copy_box(shape); }});
  }
}

}  // namespace tiersim::kernels::conformance
