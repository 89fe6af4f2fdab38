#include "workloads/serving/conversation_trace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/serving/name_hash.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;

constexpr double kMostSeconds = 1e8;

const Json* member(const Json& of, const char* key) {
  const auto at = of.find(key);
  return at == of.end() ? nullptr : &*at;
}

Int128 picoseconds(double seconds) {
  return std::llround(std::min(seconds, kMostSeconds) * 1e6) * Int128{1'000'000};
}

}  // namespace

// The requests of one line.
class ConversationTrace::Conversation {
 public:
  Conversation(ConversationTrace& form, const TraceLine& line) : form_(form), line_(line) {}

  /// False where the line has a mistake, which is reported.
  bool read(const Json& json) {
    const Json* const id = member(json, "id");
    if (id == nullptr || !id->is_string()) return mistake("id", id, "a text");
    const auto number = static_cast<std::uint64_t>(line_.number);
    session_ = chained(chained(5, number), text_hash(id->get_ref<const std::string&>()));
    const auto block = whole(json, "", "block_size", 1, kMostTokens);
    if (!block) return false;
    block_ = *block;
    return requests(json, "requests");
  }

 private:
  bool mistake(const std::string& key, const Json* found, std::string_view wanted) {
    form_.report(line_, 1,
                 found == nullptr ? fmt::format("'{}' is missing", key)
                                  : fmt::format("{} is {}", key, in_quotes(text_of(*found))),
                 fmt::format("it is {}", wanted));
    return false;
  }
  static std::string text_of(const Json& json) {
    if (json.is_structured()) return json.is_array() ? "[...]" : "{...}";
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::optional<std::int64_t> whole(const Json& of, const std::string& at, const char* key,
                                    std::int64_t least, std::int64_t most) {
    const Json* const found = member(of, key);
    if (found != nullptr && found->is_number_integer() && *found >= least && *found <= most)
      return found->get<std::int64_t>();
    mistake(at + key, found, fmt::format("a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  // None where the key is missing or null and may be; `fine` turns false for any other value.
  std::optional<double> seconds(const Json& of, const std::string& at, const char* key, bool& fine,
                                double units_of_second = 1) {
    const Json* const found = member(of, key);
    if (found == nullptr || found->is_null()) return std::nullopt;
    const double most = kMostSeconds * units_of_second;
    if (found->is_number() && *found >= 0 && *found <= most) return found->get<double>();
    fine = mistake(at + key, found, fmt::format("a number from 0 to {:.0e}", most));
    return std::nullopt;
  }

  bool requests(const Json& of, const std::string& key) {
    const Json* const list = member(of, "requests");
    if (list == nullptr || !list->is_array()) return mistake(key, list, "a list of requests");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string at = fmt::format("{}[{}].", key, i);
      const Json& one = (*list)[i];
      if (!one.is_object())
        return mistake(fmt::format("{}[{}]", key, i), &one, "an object with `in` and `out`");
      const Json* const type = member(one, "type");
      const bool agent = type != nullptr && *type == "subagent";
      if (!(agent ? sub_agent(one, at) : request(one, at))) return false;
    }
    return true;
  }

  bool sub_agent(const Json& one, const std::string& at) {
    if (in_agent_) return mistake(at + "type", member(one, "type"), "not within a sub-agent");
    bool fine = true;
    const double end = seconds(one, at, "t", fine).value_or(end_);
    // Without its duration it begins at once.
    const auto took = seconds(one, at, "duration_ms", fine, 1000);
    if (!fine) return false;
    const double before = end_;
    begin_ = took ? std::max(before, end - *took / 1000) : before;
    in_agent_ = true;
    follows_agent_ = false;
    wait_ = begin_ - before;
    const bool read = requests(one, at + "requests");
    in_agent_ = false;
    begin_ = 0;
    end_ = std::max(before, end);
    follows_agent_ = true;
    return read;
  }

  bool request(const Json& one, const std::string& at) {
    bool fine = true;
    const double time = seconds(one, at, "t", fine).value_or(0) + begin_;
    const auto took = seconds(one, at, "api_time", fine);
    auto pause = seconds(one, at, "think_time", fine);
    const auto input = whole(one, at, "in", 1, kMostTokens);
    const auto output = whole(one, at, "out", 0, kMostTokens);
    if (!fine || !input || !output) return false;
    if (!pause || follows_agent_) pause = std::max(0.0, time - end_);
    if (wait_) pause = *wait_;
    RecordedRequest out{.time = 0,
                        .input_tokens = *input,
                        .output_tokens = *output,
                        .session = session_,
                        .is_timed = false,
                        .block = block_};
    if (!ids(one, at, out)) return false;
    end_ = std::max(end_, time + took.value_or(0));
    wait_.reset();
    follows_agent_ = false;
    if (*output == 0) {
      ++form_.left_out_;
      return true;
    }
    if (!form_.read_.empty()) out.pause = picoseconds(*pause);
    form_.read_.push_back(std::move(out));
    return true;
  }

  bool ids(const Json& one, const std::string& at, RecordedRequest& out) {
    const Json* const list = member(one, "hash_ids");
    if (list == nullptr) return true;
    if (!list->is_array()) return mistake(at + "hash_ids", list, "a list of whole numbers from 0");
    const auto most = static_cast<std::size_t>((out.input_tokens + block_ - 1) / block_);
    if (list->size() > most) {
      form_.report(
          line_, 1,
          fmt::format("{}hash_ids has {} blocks of {} tokens, and its prompt of {} tokens has {}",
                      at, list->size(), block_, out.input_tokens, most));
      return false;
    }
    for (const Json& id : *list) {
      if (!id.is_number_unsigned())
        return mistake(at + "hash_ids", &id, "a list of whole numbers from 0");
      out.prefix.push_back(
          chained(out.prefix.empty() ? session_ : out.prefix.back(), id.get<std::uint64_t>()));
    }
    return true;
  }

  ConversationTrace& form_;
  const TraceLine& line_;
  std::uint64_t session_ = 0;
  std::int64_t block_ = 1;
  double begin_ = 0;  // of the sub-agent, whose times count from there
  double end_ = 0;    // of the request before, in seconds after the begin of the conversation
  bool in_agent_ = false;
  bool follows_agent_ = false;       // the request before was of a sub-agent
  std::optional<double> wait_ = {};  // before the first request of a sub-agent
};

bool ConversationTrace::is_one(std::string_view line) {
  constexpr std::string_view kKey = "\"requests\"";
  const std::size_t at = line.find(kKey);
  if (!line.starts_with('{') || at == std::string_view::npos) return false;
  const std::size_t next = line.find_first_not_of(" \t", at + kKey.size());
  return next != std::string_view::npos && line[next] == ':';
}

bool ConversationTrace::read(const TraceLine& line, RecordedRequest& out) {
  read_.clear();
  const Json json = Json::parse(line.text, nullptr, false);
  if (!json.is_object()) {
    report(line, 1, "is no JSON object",
           "a line is a conversation: {\"id\": ..., \"block_size\": ..., \"requests\": [...]}");
    return false;
  }
  if (!Conversation(*this, line).read(json)) {
    read_.clear();
    return false;
  }
  return more(out);
}

bool ConversationTrace::more(RecordedRequest& out) {
  if (read_.empty()) return false;
  out = std::move(read_.front());
  read_.pop_front();
  return true;
}

}  // namespace tiersim
