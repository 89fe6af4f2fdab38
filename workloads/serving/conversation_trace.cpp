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
    const Json* const scope = member(json, "hash_id_scope");
    if (scope != nullptr && *scope != "local" && *scope != "global")
      return mistake("hash_id_scope", scope, "local or global");
    names_ = scope != nullptr && *scope == "global" ? 0 : session_;
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
    bool fine = true;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& one = (*list)[i];
      const std::string at = fmt::format("{}[{}]", key, i);
      if (one.is_object())
        fine = entry(one, at + '.') && fine;
      else
        fine = mistake(at, &one, "an object with `in` and `out`");
    }
    return fine;
  }

  bool entry(const Json& one, const std::string& at) {
    const Json* const type = member(one, "type");
    if (type == nullptr || *type == "n" || *type == "s") return request(one, at);
    if (*type == "subagent" && !in_agent_) return sub_agent(one, at);
    return mistake(at + "type", type, in_agent_ ? "n or s within a sub-agent" : "n, s or subagent");
  }

  bool sub_agent(const Json& one, const std::string& at) {
    bool fine = true;
    const auto end = time_of(one, at, fine);
    const auto took = seconds(one, at, "duration_ms", fine, 1000);
    if (!fine) return false;
    // Without its duration it begins at once.
    begin_ = took ? std::max(kept_end_, end - *took / 1000) : kept_end_;
    in_agent_ = true;
    follows_ = false;
    const bool read = requests(one, at + "requests");
    in_agent_ = false;
    begin_ = 0;
    follows_ = false;
    return read;
  }

  // Seconds after the begin of the conversation.
  double time_of(const Json& one, const std::string& at, bool& fine) {
    const auto time = seconds(one, at, "t", fine);
    if (!time && fine) fine = mistake(at + "t", member(one, "t"), "a number of seconds");
    return begin_ + time.value_or(0);
  }

  bool request(const Json& one, const std::string& at) {
    bool fine = true;
    const double time = time_of(one, at, fine);
    const auto took = seconds(one, at, "api_time", fine);
    const auto thought = seconds(one, at, "think_time", fine);
    const auto input = whole(one, at, "in", 1, kMostTokens);
    const auto output = whole(one, at, "out", 0, kMostTokens);
    if (!fine || !input || !output) return false;
    RecordedRequest out{.input_tokens = *input,
                        .output_tokens = *output,
                        .session = session_,
                        .is_timed = false,
                        .block = block_};
    if (!ids(one, at, out)) return false;
    if (*output == 0) {
      ++form_.left_out_;
      follows_ = false;
      return true;
    }
    if (!form_.requests_.empty())
      out.pause = picoseconds(thought && follows_ ? *thought : std::max(0.0, time - kept_end_));
    kept_end_ = time + took.value_or(0);
    follows_ = true;
    form_.requests_.push_back(std::move(out));
    return true;
  }

  bool ids(const Json& one, const std::string& at, RecordedRequest& out) {
    const Json* const list = member(one, "hash_ids");
    if (list == nullptr || list->is_null()) return true;
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
          chained(out.prefix.empty() ? names_ : out.prefix.back(), id.get<std::uint64_t>()));
    }
    return true;
  }

  ConversationTrace& form_;
  const TraceLine& line_;
  std::uint64_t session_ = 0;
  std::int64_t block_ = 1;
  std::uint64_t names_ = 0;  // what the names of blocks begin with
  double begin_ = 0;         // of the sub-agent, whose times count from there
  bool in_agent_ = false;
  double kept_end_ = 0;   // recorded, of the last request that is replayed
  bool follows_ = false;  // that one is the entry before, so that `think_time` counts from its end
};

bool ConversationTrace::is_one(std::string_view line) {
  return line.starts_with('{') && (has_key(line, "requests") || has_key(line, "block_size"));
}

bool ConversationTrace::read_object(const TraceLine& line) {
  constexpr std::string_view kHint =
      R"(a line is a conversation: {"id": ..., "block_size": ..., "requests": [...]})";
  Json object;
  if (!parsed(line, kHint, [&] { object = Json::parse(line.text); })) return false;
  if (!object.is_object()) {
    report(line, 1, "is no JSON object", std::string(kHint));
    return false;
  }
  return Conversation(*this, line).read(object);
}

}  // namespace tiersim
