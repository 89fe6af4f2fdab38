#include "workloads/serving/mooncake_trace.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one to one, and every bit of
// the result depends on every bit of the number.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
  number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
  return number ^ number >> 31U;
}

// The name of a block; that of the first one has 0 before it.
std::uint64_t block_name(std::uint64_t before, std::uint64_t id) {
  return mixed(before + mixed(id + 0x9E3779B97F4A7C15U));
}

}  // namespace

// The values of one line. The parser stops at anything that the form does not have.
class MooncakeTrace::LineReader final : public nlohmann::json_sax<Json> {
 public:
  static constexpr std::array<std::string_view, 4> kKeys{"timestamp", "input_length",
                                                         "output_length", "hash_ids"};
  static constexpr std::size_t kTimestamp = 0;
  static constexpr std::size_t kHashIds = 3;

  void begin() {
    given_ = {};
    ids_.clear();
    mistake_.clear();
    hint_.clear();
    column_ = 1;
    level_ = 0;
    key_.reset();
  }
  std::uint64_t value(std::size_t key) const { return values_[key]; }
  const std::vector<std::uint64_t>& ids() const { return ids_; }
  const std::string& mistake() const { return mistake_; }
  const std::string& hint() const { return hint_; }
  std::size_t column() const { return column_; }
  /// The first key that the line lacks, if any; hash_ids may be missing.
  std::optional<std::string_view> missing() const {
    for (std::size_t key = 0; key < kHashIds; ++key)
      if (!given_[key]) return kKeys[key];
    return std::nullopt;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (level_ == 2) {
      ids_.push_back(number);
      return true;
    }
    if (level_ != 1 || key_ == kHashIds) return unfit("a number");
    values_[*key_] = number;
    return true;
  }
  bool number_integer(number_integer_t number) override { return unfit(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override {
    return unfit(in_quotes(text));
  }
  bool null() override { return unfit("null"); }
  bool boolean(bool value) override { return unfit(value ? "true" : "false"); }
  bool string(string_t& text) override { return unfit("the text " + in_quotes(text)); }
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
    return stop(
        fmt::format("{}{} is {}", level_ == 2 ? "an element of " : "", kKeys[*key_], found),
        of_list ? "it is a list of whole numbers from 0" : "it is a whole number, and not below 0");
  }
  bool stop(std::string mistake, std::string hint) {
    mistake_ = std::move(mistake);
    hint_ = std::move(hint);
    return false;
  }

  std::array<bool, 4> given_{};
  std::array<std::uint64_t, 4> values_{};
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
  constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;
  out.time = Int128{line_->value(LineReader::kTimestamp)} * kPicosecondsPerMillisecond;
  out.input_tokens = count(1);
  out.output_tokens = count(2);
  out.prefix.clear();
  for (const std::uint64_t id : line_->ids())
    out.prefix.push_back(block_name(out.prefix.empty() ? 0 : out.prefix.back(), id));
  return out.input_tokens > 0 && out.output_tokens > 0;
}

}  // namespace tiersim
