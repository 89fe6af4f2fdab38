#include "workloads/serving/trace_file.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/config/json_text.hpp"
#include "workloads/serving/azure_trace.hpp"
#include "workloads/serving/mooncake_trace.hpp"

namespace tiersim {

Expected<RequestTrace, TraceProblems> parse_request_trace(const std::string& file,
                                                          std::string_view text) {
  TraceBuilder builder(file);
  std::string_view first = text.substr(0, text.find('\n'));
  if (first.ends_with('\r')) first.remove_suffix(1);
  if (first == kAzureHeader)
    read_azure_trace(text, builder);
  else if (first.starts_with('{'))
    read_mooncake_trace(text, builder);
  else
    builder.report(
        {}, fmt::format("begins with {}, which no trace does", in_quotes(first)),
        fmt::format("a trace is CSV and begins with {}, or JSON lines and begins with {{",
                    kAzureHeader));
  return std::move(builder).finish();
}

Expected<std::string, TraceProblems> import_request_trace(const std::filesystem::path& path,
                                                          const std::string& text) {
  const auto trace = parse_request_trace(path.string(), text);
  if (!trace) return Unexpected(trace.error());
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  return fmt::format(
      "replay: {{requests: {{value: {}, class: measured, source: {}}}, sha256: \"{}\"}}\n",
      trace->requests.size(), detail::json_string((error ? path : absolute).string()),
      sha256_hex(text));
}

}  // namespace tiersim
