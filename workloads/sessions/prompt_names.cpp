#include "workloads/sessions/prompt_names.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/serving/name_hash.hpp"

namespace tiersim {

PromptNames::PromptNames(std::int64_t block) : block_(block) {
  TS_EXPECTS(block > 0, block);
}

void PromptNames::append(std::uint64_t text, std::int64_t tokens) {
  TS_EXPECTS(tokens >= 0, tokens);
  for (std::int64_t from = 0; from < tokens;) {
    const std::int64_t taken = std::min(tokens - from, block_ - tokens_ % block_);
    open_ = chained(open_, text);
    open_ = chained(open_, static_cast<std::uint64_t>(from));
    open_ = chained(open_, static_cast<std::uint64_t>(taken));
    from += taken;
    tokens_ += taken;
    if (tokens_ % block_ == 0) names_.push_back(open_);
  }
}

}  // namespace tiersim
