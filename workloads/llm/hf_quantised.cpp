#include "workloads/llm/hf_quantised.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/llm/hf_keys.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {
namespace {

using QuantValue = nlohmann::ordered_json;
using Strings = std::vector<std::string>;
constexpr const char* kQuantisation = "quantization_config";

// What a file says of its weights; `why` where a step cannot have them.
struct Scheme {
  std::string name = {};  // as the source says it
  std::optional<DataType> type = {};
  std::optional<DataType> experts = {};  // where they differ
  bool experts_alone = false;
  Strings left_out = {};
  std::string why = {};
};

std::string text_at(const QuantValue& v, const char* key) {
  const auto at = v.find(key);
  return at == v.end() || !at->is_string() ? "" : at->get<std::string>();
}
std::int64_t whole_at(const QuantValue& v, const char* key) {
  const auto at = v.find(key);
  return at == v.end() || !at->is_number_integer() ? 0 : at->get<std::int64_t>();
}
void add_texts(const QuantValue& v, const char* key, Strings& to) {
  const auto at = v.find(key);
  if (at == v.end() || !at->is_array()) return;
  for (const QuantValue& entry : *at)
    if (entry.is_string()) to.push_back(entry.get<std::string>());
}

Scheme fp8_scheme(const QuantValue& q, const std::string& expert_dtype) {
  Scheme out{.name = "fp8", .type = DataType::fp8};
  if (const auto block = q.find("weight_block_size"); block != q.end() && !block->is_null()) {
    out.name = "fp8 in blocks of " + block->dump();
    out.type = DataType::fp8_block;
    if (*block != QuantValue::array({128, 128})) out.why = "blocks other than [128,128]";
  }
  if (expert_dtype == "fp4") {
    out.name += " with experts in fp4";
    out.experts = DataType::mxfp4;
  } else if (!expert_dtype.empty() && expert_dtype != "fp8") {
    out.why = "experts in " + expert_dtype;
  }
  return out;
}

// The type of a group of compressed-tensors by bits, kind, strategy and size.
std::optional<DataType> type_of_group(const QuantValue& weights) {
  const std::int64_t width = whole_at(weights, "num_bits");
  const std::int64_t group = whole_at(weights, "group_size");
  const std::string kind = text_at(weights, "type");
  const std::string strategy = text_at(weights, "strategy");
  if (kind == "int" && width == 4) {
    if (strategy == "group" && group == 32) return DataType::int4_g32;
    if (strategy == "channel" || (strategy == "group" && group >= 64)) return DataType::int4;
  }
  if (kind == "int" && width == 8) return DataType::int8;
  if (kind == "float" && width == 8)
    return strategy == "block" ? DataType::fp8_block : DataType::fp8;
  if (kind == "float" && width == 4 && group == 16) return DataType::nvfp4;
  if (kind == "float" && width == 4 && group == 32) return DataType::mxfp4;
  return std::nullopt;
}

Scheme tensors_scheme(const QuantValue& q) {
  Scheme out{.name = "compressed-tensors"};
  const auto groups = q.find("config_groups");
  if (groups == q.end() || !groups->is_object() || groups->size() != 1) {
    out.why = "more than one group of modules, or none";
    return out;
  }
  const QuantValue& group = *groups->begin();
  Strings targets;
  add_texts(group, "targets", targets);
  const auto weights = group.find("weights");
  if (targets != Strings{"Linear"}) {
    out.why = "targets other than Linear";
  } else if (weights == group.end() || !weights->is_object()) {
    out.why = "no weights in its group";
  } else {
    const std::int64_t size = whole_at(*weights, "group_size");
    out.name += fmt::format(" {}{}{}", text_at(*weights, "type"), whole_at(*weights, "num_bits"),
                            size > 0 ? fmt::format(" in groups of {}", size) : "");
    out.type = type_of_group(*weights);
    const auto block = weights->find("block_structure");
    if (!out.type) out.why = "weights of this width";
    if (out.type == DataType::fp8_block && block != weights->end() && !block->is_null() &&
        *block != QuantValue::array({128, 128}))
      out.why = "blocks other than [128,128]";
  }
  return out;
}

// Whole matrices in whole numbers, by groups of inputs.
Scheme integer_scheme(const QuantValue& q, const std::string& method) {
  const std::int64_t width = whole_at(q, "bits");
  const std::int64_t group = whole_at(q, "group_size");
  Scheme out{.name = fmt::format("{} to {} bits", method, width)};
  if (width == 4 && group == 32) out.type = DataType::int4_g32;
  if (width == 4 && (group >= 64 || group == -1)) out.type = DataType::int4;
  if (width == 8) out.type = DataType::int8;
  if (!out.type) out.why = fmt::format("{} bits in groups of {}", width, group);
  if (const auto own = q.find("dynamic"); own != q.end() && !own->empty())
    out.why = "settings of single modules (dynamic)";
  return out;
}

Scheme modelopt_scheme(const QuantValue& q) {
  const std::string algorithm = text_at(q, "quant_algo");
  Scheme out{.name = "modelopt " + algorithm};
  if (algorithm == "NVFP4") out.type = DataType::nvfp4;
  if (algorithm == "FP8") out.type = DataType::fp8;
  if (!out.type) out.why = "another algorithm than NVFP4 or FP8";
  return out;
}

Scheme scheme_of(const QuantValue& q, const std::string& expert_dtype) {
  const std::string method = text_at(q, "quant_method");
  Scheme out;
  if (method == "fp8") {
    out = fp8_scheme(q, expert_dtype);
  } else if (method == "mxfp4") {
    out = {.name = "mxfp4", .type = DataType::mxfp4, .experts_alone = true};
  } else if (method == "compressed-tensors") {
    out = tensors_scheme(q);
  } else if (method == "gptq" || method == "awq") {
    out = integer_scheme(q, method);
  } else if (method == "modelopt") {
    out = modelopt_scheme(q);
  } else {
    out.name = method;
    if (const std::int64_t width = whole_at(q, "bits"); width > 0)
      out.name += fmt::format("{}{} bits", method.empty() ? "" : " to ", width);
    out.why = "this scheme";
  }
  for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"})
    add_texts(q, key, out.left_out);
  return out;
}

// `*` stands for any text, also none.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// From the layer on, as the names before it differ between families.
std::string_view from_layer(std::string_view name) {
  const std::size_t at = name.find("layers.");
  return at == std::string_view::npos ? name : name.substr(at);
}

// Patterns with `*` of an expression that has nothing but `.*`, `\.` and one list of alternatives;
// empty for any other.
Strings patterns_of_expression(std::string_view expression) {
  std::string text(expression);
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  if (text.starts_with('^')) text.erase(0, 1);
  const bool whole = text.ends_with('$');
  if (whole) text.pop_back();
  replace("\\d+", ".*");
  replace("[0-9]+", ".*");
  replace(".*", "*");
  replace("\\.", ".");
  Strings out{text};
  if (const std::size_t open = text.find('('); open != std::string::npos) {
    const std::size_t close = text.find(')', open);
    if (close == std::string::npos) return {};
    out.clear();
    std::string inner = text.substr(open + 1, close - open - 1) + '|';
    while (!inner.empty()) {
      const std::size_t bar = inner.find('|');
      out.push_back(text.substr(0, open) + inner.substr(0, bar) + text.substr(close + 1));
      inner.erase(0, bar + 1);
    }
  }
  for (std::string& pattern : out) {
    if (pattern.find_first_of("()[]{}+?\\|^$") != std::string::npos) return {};
    if (!whole) pattern += '*';
  }
  return out;
}

class LeftOut {
 public:
  explicit LeftOut(const Strings& entries) {
    for (const std::string& entry : entries) {
      if (!entry.starts_with("re:")) {
        patterns_.emplace_back(from_layer(entry));
        continue;
      }
      const Strings made = patterns_of_expression(std::string_view(entry).substr(3));
      if (made.empty()) unknown_ = entry;
      for (const std::string& pattern : made) patterns_.emplace_back(from_layer(pattern));
    }
  }

  /// An expression that was not understood; empty where there is none.
  const std::string& unknown() const { return unknown_; }
  bool has(const std::string& module) const {
    return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
      if (matches(pattern, module) || matches(pattern + ".*", module)) return true;
      if (pattern.starts_with("layers.")) return false;
      const std::string within = "*." + pattern;  // a name within a layer, in full or its beginning
      return matches(within + ".*", module) ||
             (pattern.find('.') != std::string::npos && matches(within, module));
    });
  }

 private:
  Strings patterns_ = {};
  std::string unknown_ = {};
};

// A part of the model by names of its modules in one layer: of the first product and of the last,
// each with its names in several families.
struct StatedPart {
  const char* name;
  std::array<Strings, 2> modules;
};

const std::array<StatedPart, 4>& parts() {
  static const std::array<StatedPart, 4> kParts{
      {{"attention",
        {{{"self_attn.q_proj", "self_attn.q_a_proj", "self_attn.qkv_proj", "attn.wq_a",
           "linear_attn.in_proj_qkvz"},
          {"self_attn.o_proj", "attn.wo_b", "linear_attn.out_proj"}}}},
       {"mlp", {{{"mlp.gate_proj", "mlp.gate_up_proj", "mlp.up_proj"}, {"mlp.down_proj"}}}},
       {"experts",
        {{{"mlp.experts.0.gate_proj", "mlp.experts.gate_up_proj", "ffn.experts.0.w1",
           "block_sparse_moe.experts.0.w1"},
          {"mlp.experts.0.down_proj", "mlp.experts.down_proj", "ffn.experts.0.w2",
           "block_sparse_moe.experts.0.w2"}}}},
       {"shared_experts",
        {{{"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj", "ffn.shared_experts.w1"},
          {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj",
           "ffn.shared_experts.w2"}}}}}};
  return kParts;
}

bool layer_has(const LlmConfig& m, std::size_t part, std::int64_t layer) {
  if (part == 0) return m.type_of(layer) != LayerType::no_attention;
  if (part == 1) return m.mlp_type(layer) == MlpType::dense;
  if (part == 3 && (!m.moe || m.moe->shared_experts == 0)) return false;
  return m.is_moe_layer(layer);
}

enum class Kept : std::uint8_t { none, all, some, absent };

Kept kept(const LlmConfig& m, std::size_t part, const LeftOut& left_out) {
  std::int64_t all = 0;
  std::int64_t out = 0;
  for (std::int64_t layer = 0; layer < m.layers; ++layer) {
    if (!layer_has(m, part, layer)) continue;
    for (const Strings& names : parts().at(part).modules) {
      ++all;
      out += std::ranges::any_of(names, [&](const std::string& name) {
        return left_out.has(fmt::format("layers.{}.{}", layer, name));
      });
    }
  }
  if (all == 0) return Kept::absent;
  return out == 0 ? Kept::all : out == all ? Kept::none : Kept::some;
}

// Of a foreign file only a short text without control characters is repeated.
void make_plain(std::string& text) {
  constexpr std::size_t kLongest = 120;
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
}

std::string not_taken(const Scheme& scheme) {
  return fmt::format(
      ", published with weights quantised{}, of which {} cannot be told: it runs as "
      "step.weight_type and step.weight_types say, such as {{attention: bf16, experts: nvfp4}}",
      scheme.name.empty() ? "" : " by " + scheme.name, scheme.why);
}

}  // namespace

std::string read_quantisation(HfKeys& keys, LlmConfig& model) {
  const std::string expert_dtype = keys.text("expert_dtype", "");
  if (!keys.has_entries(kQuantisation)) return "";
  const QuantValue q = QuantValue::parse(keys.json_of(kQuantisation));
  if (!q.is_object() || model.layers < 1) return "";
  Scheme scheme = scheme_of(q, expert_dtype);
  const LeftOut left_out(scheme.left_out);
  if (scheme.why.empty() && !left_out.unknown().empty())
    scheme.why = "the modules that '" + left_out.unknown() + "' leaves out";
  if (scheme.why.empty() && model.encoder) scheme.why = "the parts of an encoder";
  WeightTypes types;
  const std::array<std::optional<DataType>*, 4> of_part{&types.attention, &types.mlp,
                                                        &types.experts, &types.shared_experts};
  for (std::size_t part = 0; scheme.why.empty() && part < of_part.size(); ++part) {
    const Kept quantised =
        scheme.experts_alone && part != 2 ? Kept::none : kept(model, part, left_out);
    if (quantised == Kept::some)
      scheme.why = fmt::format("the layers in which {} is left out", parts().at(part).name);
    if (quantised == Kept::all)
      *of_part.at(part) = part == 2 && scheme.experts ? scheme.experts : scheme.type;
  }
  make_plain(scheme.name);
  make_plain(scheme.why);
  if (!scheme.why.empty()) return not_taken(scheme);
  model.weights = PublishedWeights{.type = DataType::bf16, .parts = types};
  return ", published with weights quantised by " + scheme.name;
}

}  // namespace tiersim
