// wgmma m64 n<Columns> k16, bf16 to fp32, on sm_90a: a warpgroup of 128 threads multiplies A[64,16]
// (registers or shared memory) by B[16,Columns] (shared memory, 128 B swizzle). It is asynchronous:
// fence before the first, commit, wait. The accumulators may be accessed after the wait only.
//
// Thread t of the warpgroup holds D[row][column] in d[i] with row = 16 (t / 32) + (t % 32) / 4 +
// 8 (i / 2 % 2) and column = 8 (i / 4) + 2 (t % 4) + i % 2; its A fragment is that of mma.m16n8k16
// for rows 16 (t / 32) and on (PTX ISA, wgmma register fragments and matrix descriptors).
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

// The order of B in memory: k_major keeps the 16 numbers along k together (B^T row-major, as K of
// attention), columns_major keeps columns together (B row-major, as V).
enum class Major { k, columns };

#if TS_ON_CARD
// leading, stride: byte offsets as the PTX ISA defines them for 128 B swizzle. K-major: leading is
// unused, and stride is the distance between groups of 8 rows (1024 for rows of 128 B).
// Columns-major: leading is the distance between groups of 64 columns, and stride that between
// groups of 8 steps of k.
__device__ __forceinline__ std::uint64_t matrix_descriptor(const void* shared, int leading,
                                                           int stride) {
  std::uint64_t descriptor = (shared_address(shared) & 0x3ffffU) >> 4;
  descriptor |= static_cast<std::uint64_t>(leading >> 4 & 0x3fff) << 16;
  descriptor |= static_cast<std::uint64_t>(stride >> 4 & 0x3fff) << 32;
  return descriptor | std::uint64_t{1} << 62;
}
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int GroupsLeft>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GroupsLeft) : "memory");
}

// clang-format off
#define TS_REGISTERS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
  "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TS_REGISTERS_32(d, i) \
  TS_REGISTERS_8(d, i), TS_REGISTERS_8(d, i + 8), TS_REGISTERS_8(d, i + 16), TS_REGISTERS_8(d, i + 24)
#define TS_REGISTERS_64(d, i) TS_REGISTERS_32(d, i), TS_REGISTERS_32(d, i + 32)
#define TS_REGISTERS_128(d, i) TS_REGISTERS_64(d, i), TS_REGISTERS_64(d, i + 64)
#define TS_NAMES_32 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31}"
#define TS_NAMES_64 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45," \
  "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
#define TS_NAMES_128 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45," \
  "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67," \
  "%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89," \
  "%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108," \
  "%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125," \
  "%126,%127}"
// clang-format on
#endif

// D (+)= A B with both operands in shared memory; accumulate false: D = A B.
template <int Columns, Major BMajor>
__device__ __forceinline__ void wgmma(float (&d)[std::size_t{Columns} / 2], std::uint64_t a,
                                      std::uint64_t b, bool accumulate = true) {
  static_assert(Columns == 64 || Columns == 128 || Columns == 256);
#if !TS_ON_CARD
  emulator::warpgroup_multiply(d, Columns, nullptr, a, b, BMajor == Major::columns, accumulate);
#else
  if constexpr (Columns == 64) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " TS_NAMES_32
        ", %32, %33, p, 1, 1, 0, %35;\n}"
        : TS_REGISTERS_32(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(BMajor == Major::columns ? 1 : 0));
  } else if constexpr (Columns == 128) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " TS_NAMES_64
        ", %64, %65, p, 1, 1, 0, %67;\n}"
        : TS_REGISTERS_64(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(BMajor == Major::columns ? 1 : 0));
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " TS_NAMES_128
        ", %128, %129, p, 1, 1, 0, %131;\n}"
        : TS_REGISTERS_128(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(BMajor == Major::columns ? 1 : 0));
  }
#endif
}

// The same with A in registers.
template <int Columns, Major BMajor>
__device__ __forceinline__ void wgmma(float (&d)[std::size_t{Columns} / 2], const unsigned (&a)[4],
                                      std::uint64_t b, bool accumulate = true) {
  static_assert(Columns == 64 || Columns == 128 || Columns == 256);
#if !TS_ON_CARD
  emulator::warpgroup_multiply(d, Columns, a, 0, b, BMajor == Major::columns, accumulate);
#else
  if constexpr (Columns == 64) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " TS_NAMES_32
        ", {%32,%33,%34,%35}, %36, p, 1, 1, %38;\n}"
        : TS_REGISTERS_32(d, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
          "n"(BMajor == Major::columns ? 1 : 0));
  } else if constexpr (Columns == 128) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " TS_NAMES_64
        ", {%64,%65,%66,%67}, %68, p, 1, 1, %70;\n}"
        : TS_REGISTERS_64(d, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
          "n"(BMajor == Major::columns ? 1 : 0));
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " TS_NAMES_128
        ", {%128,%129,%130,%131}, %132, p, 1, 1, %134;\n}"
        : TS_REGISTERS_128(d, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),
          "n"(BMajor == Major::columns ? 1 : 0));
  }
#endif
}

#if !TS_ON_CARD
inline std::uint64_t matrix_descriptor(const void* shared, int leading, int stride) {
  return emulator::matrix_descriptor(shared, leading, stride);
}
inline void wgmma_fence() {
  emulator::warpgroup_fence();
}
inline void wgmma_commit() {
  emulator::warpgroup_commit();
}
template <int GroupsLeft>
void wgmma_wait() {
  emulator::warpgroup_wait(GroupsLeft);
}
#endif

// The descriptor of the matrix `bytes` further on, a multiple of 16. Its start is in the low word,
// so that one addition of 32 bits does.
__device__ __forceinline__ std::uint64_t descriptor_after(std::uint64_t descriptor, int bytes) {
  const auto start =
      static_cast<std::uint32_t>(descriptor) + static_cast<std::uint32_t>(bytes / 16);
  return (descriptor >> 32 << 32) | start;
}

}  // namespace tiersim::kernels
