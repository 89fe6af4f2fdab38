#include "workloads/serving/mooncake_trace.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "workloads/serving/name_hash.hpp"
#include "workloads/serving/trace_time.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;

}  // namespace

// The values of one line. The parser stops at anything that the form does not have.
class MooncakeTrace::LineReader final : public nlohmann::json_sax<Json> {
 public:
  static constexpr std::array<std::string_view, 8> kKeys{
      "timestamp",  "input_length", "output_length", "hash_ids",
      "session_id", "delay",        "group_id",      "is_restart"};
  static constexpr std::size_t kTimestamp = 0;
  static constexpr std::size_t kInput = 1;
  static constexpr std::size_t kOutput = 2;
  static constexpr std::size_t kHashIds = 3;
  static constexpr std::size_t kSession = 4;
  static constexpr std::size_t kDelay = 5;
  static constexpr std::size_t kRestart = 7;

  void begin() {
    given_ = {};
    times_ = {};
    ids_.clear();
    mistake_.clear();
    hint_.clear();
    column_ = 1;
    level_ = 0;
    key_.reset();
  }
  std::uint64_t value(std::size_t key) const { return values_[key]; }
  bool has(std::size_t key) const { return given_[key]; }
  /// Of the timestamp or the delay, in picoseconds.
  Int128 time(std::size_t key) const { return times_[key == kTimestamp ? 0 : 1]; }
  std::uint64_t session() const { return session_; }
  const std::vector<std::uint64_t>& ids() const { return ids_; }
  const std::string& mistake() const { return mistake_; }
  const std::string& hint() const { return hint_; }
  std::size_t column() const { return column_; }
  /// The first key that the line lacks, if any; hash_ids may be missing, and the timestamp where a
  /// delay stands for it.
  std::optional<std::string_view> missing() const {
    for (std::size_t key = 0; key < kHashIds; ++key)
      if (!given_[key] && !(key == kTimestamp && given_[kDelay])) return kKeys[key];
    if (given_[kDelay] && !given_[kSession]) return kKeys[kSession];
    return std::nullopt;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (level_ == 2) {
      ids_.push_back(number);
      return true;
    }
    if (level_ != 1 || !is_number(*key_)) return unfit("a number");
    values_[*key_] = number;
    if (is_time()) return take_time(std::to_string(number));
    return true;
  }
  bool number_integer(number_integer_t number) override { return unfit(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override {
    return is_time() ? take_time(text) : unfit(in_quotes(text));
  }
  bool null() override { return unfit("null"); }
  bool boolean(bool value) override {
    return level_ == 1 && key_ == kRestart ? true : unfit(value ? "true" : "false");
  }
  bool string(string_t& text) override {
    if (level_ != 1 || key_ != kSession) return unfit("the text " + in_quotes(text));
    session_ = text_hash(text);
    return true;
  }
  bool binary(binary_t&) override { return unfit("no JSON"); }

  bool start_object(std::size_t) override {
    if (level_ != 0) return unfit("an object");
    level_ = 1;
    return true;
  }
  bool key(string_t& key) override {
    const auto at = std::ranges::find(kKeys, std::string_view(key));
    const std::vector<std::string> known(kKeys.begin(), kKeys.end());
    if (at == kKeys.end())
      return stop(fmt::format("unknown key {}", in_quotes(key)), "the keys are " + join(known));
    key_ = static_cast<std::size_t>(at - kKeys.begin());
    if (given_[*key_]) return stop(fmt::format("'{}' is given twice", key), "");
    given_[*key_] = true;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    if (level_ != 1 || key_ != kHashIds) return unfit("a list");
    level_ = 2;
    return true;
  }
  bool end_array() override {
    level_ = 1;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    column_ = std::max<std::size_t>(position, 1);
    return stop("is no JSON from here on", "");
  }

 private:
  bool unfit(const std::string& found) {
    if (level_ == 0) return stop("is " + found, "a line is an object");
    const bool of_list = key_ == kHashIds && level_ == 1;
    return stop(fmt::format("{}{} is {}", level_ == 2 ? "an element of " : "", kKeys[*key_], found),
                of_list            ? "it is a list of whole numbers from 0"
                : is_time()        ? "it is a number of milliseconds, and not below 0"
                : key_ == kSession ? "it is a text"
                : key_ == kRestart ? "it is true or false"
                                   : "it is a whole number, and not below 0");
  }
  static bool is_number(std::size_t key) {
    return key != kHashIds && key != kSession && key != kRestart;
  }
  bool is_time() const { return level_ == 1 && (key_ == kTimestamp || key_ == kDelay); }
  bool take_time(const std::string& text) {
    const auto time = parse_decimal_time(text, -3);
    if (!time || *time < 0) return unfit(in_quotes(text));
    times_[key_ == kTimestamp ? 0 : 1] = *time;
    return true;
  }
  bool stop(std::string mistake, std::string hint) {
    mistake_ = std::move(mistake);
    hint_ = std::move(hint);
    return false;
  }

  std::array<bool, 8> given_{};
  std::array<std::uint64_t, 8> values_{};
  std::array<Int128, 2> times_{};  // of the timestamp and the delay
  std::uint64_t session_ = 0;
  std::vector<std::uint64_t> ids_;
  std::string mistake_;
  std::string hint_;
  std::size_t column_ = 1;
  int level_ = 0;  // 0: outside, 1: in the object, 2: in its list
  std::optional<std::size_t> key_;
};

MooncakeTrace::MooncakeTrace(TraceMistakes& mistakes)
    : TraceForm(mistakes), line_(std::make_unique<LineReader>()) {}
MooncakeTrace::~MooncakeTrace() = default;

// A first turn has the timestamp of its session, and a later one the delay after the turn before.
bool MooncakeTrace::expect_time_of(const TraceLine& line, bool is_first) {
  const bool timestamp = line_->has(LineReader::kTimestamp);
  const bool delay = line_->has(LineReader::kDelay);
  if (timestamp && delay)
    report(line, 1, "has both a 'timestamp' and a 'delay'",
           "the first turn of a session has a timestamp, and a later one a delay");
  else if (is_first && !timestamp)
    report(line, 1, "is the first turn of its session, and has no 'timestamp'",
           "milliseconds since the start of the trace, in place of the delay");
  else if (!is_first && !delay)
    report(line, 1, "is a later turn of its session, and has no 'delay'",
           "milliseconds after the end of the turn before, in place of the timestamp");
  else
    return true;
  return false;
}

bool MooncakeTrace::read(const TraceLine& line, RecordedRequest& out) {
  line_->begin();
  if (!Json::sax_parse(line.text, line_.get())) {
    report(line, line_->column(), line_->mistake(), line_->hint());
    return false;
  }
  if (const auto key = line_->missing()) {
    report(line, 1, fmt::format("'{}' is missing", *key));
    return false;
  }
  const auto count = [&](std::size_t key) {
    return tokens(line, 1, LineReader::kKeys[key], fmt::format_int(line_->value(key)).str());
  };
  out.time = line_->time(LineReader::kTimestamp);
  out.input_tokens = count(LineReader::kInput);
  out.output_tokens = count(LineReader::kOutput);
  out.prefix.clear();
  out.session.reset();
  out.end.reset();
  out.pause.reset();
  out.adds = line_->has(LineReader::kSession);
  if (out.adds) {
    out.session = line_->session();
    if (line_->has(LineReader::kDelay)) out.pause = line_->time(LineReader::kDelay);
    const auto [at, first] = times_.try_emplace(line_->session(), out.time);
    if (!expect_time_of(line, first)) return false;
    // A later turn comes no earlier than this.
    if (!first) at->second += out.pause.value_or(0);
    out.time = at->second;
    out.prefix = line_->ids();
    return out.input_tokens > 0 && out.output_tokens > 0;
  }
  for (const std::uint64_t id : line_->ids())
    out.prefix.push_back(chained(out.prefix.empty() ? 0 : out.prefix.back(), id));
  return out.input_tokens > 0 && out.output_tokens > 0;
}

}  // namespace tiersim
