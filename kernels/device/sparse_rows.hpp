// Layouts of sparse offload, for the kernels and for their hosts: a row of the latent cache and a
// page of index keys.
#pragma once

namespace tiersim::kernels {

// A row of the latent cache: 512 numbers e4m3, their 4 scales fp32 (one for 128 numbers), and 64
// numbers bf16 with positions (rope). 656 B; 16 B aligned, but not whole sectors of 32 B.
struct LatentRow {
  static constexpr int kLatent = 512;
  static constexpr int kRope = 64;
  static constexpr int kGroup = 128;  // numbers of a scale
  static constexpr int kScales = kLatent;
  static constexpr int kRopes = kScales + kLatent / kGroup * 4;
  static constexpr int kBytes = kRopes + kRope * 2;
  static constexpr int kUnits = kBytes / 16;
};
static_assert(LatentRow::kBytes == 656 && LatentRow::kUnits == 41);

// A page of 64 index keys: [64][128] e4m3, then [64] scales fp32; 132 B a token.
struct IndexPage {
  static constexpr int kTokens = 64;
  static constexpr int kDim = 128;
  static constexpr int kScales = kTokens * kDim;
  static constexpr int kBytes = kScales + kTokens * 4;
};
static_assert(IndexPage::kBytes == 132 * IndexPage::kTokens && IndexPage::kBytes % 16 == 0);

}  // namespace tiersim::kernels
