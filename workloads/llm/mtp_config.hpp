#pragma once
// Modules for multi-token prediction, which a checkpoint has beside the model (DeepSeek-V3, arXiv
// 2412.19437, section 2.2): each joins an embedding and a hidden state, has one layer like the
// model's last, and gives the next token by the model's head. Copies of embedding and head in some
// checkpoints are not loaded.
#include <cstdint>

#include "sim/config/fields.hpp"

namespace tiersim {

struct MtpConfig {
  std::int64_t modules = 1;

  friend bool operator==(const MtpConfig&, const MtpConfig&) = default;
};
void describe(Fields& f, MtpConfig& c);

}  // namespace tiersim
