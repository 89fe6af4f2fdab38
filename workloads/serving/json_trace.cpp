#include "workloads/serving/json_trace.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace tiersim {

bool JsonTrace::has_key(std::string_view line, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  const std::size_t at = line.find(quoted);
  if (at == std::string_view::npos) return false;
  const std::size_t next = line.find_first_not_of(" \t", at + quoted.size());
  return next != std::string_view::npos && line[next] == ':';
}

bool JsonTrace::read(const TraceLine& line, RecordedRequest& out) {
  requests_.clear();
  if (!read_object(line)) {
    requests_.clear();
    return false;
  }
  return more(out);
}

bool JsonTrace::parsed(const TraceLine& line, std::string_view hint,
                       const std::function<void()>& parse) {
  try {
    parse();
    return true;
  } catch (const nlohmann::json::parse_error& error) {
    report(line, std::max<std::size_t>(error.byte, 1), "is no JSON from here on",
           std::string(hint));
  } catch (const nlohmann::json::exception&) {  // a number beyond all
    report(line, 1, "has a number that cannot be", std::string(hint));
  }
  return false;
}

bool JsonTrace::more(RecordedRequest& out) {
  if (requests_.empty()) return false;
  out = std::move(requests_.front());
  requests_.pop_front();
  return true;
}

}  // namespace tiersim
