#pragma once
// Azure LLM inference trace 2023 (Azure/AzurePublicDataset; Patel et al., Splitwise, ISCA 2024):
//
//   TIMESTAMP,ContextTokens,GeneratedTokens
//   2023-11-16 18:17:03.9799600,4808,10
//
// A timestamp is a date and a time of day with up to 12 decimals, read to the picosecond. All are
// of one time zone and may be in any order. Prompts have no block names, so none shares a prefix.
#include <string_view>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

inline constexpr std::string_view kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";

class AzureTrace final : public TraceForm {
 public:
  using TraceForm::TraceForm;
  bool read(const TraceLine& line, RecordedRequest& out) override;
};

}  // namespace tiersim
