#include "kernels/campaign/composition.hpp"

#include <algorithm>

namespace tiersim::kernels::bench {

SequenceMaker::SequenceMaker(std::string experiment, std::string name, const CaseList& cases,
                             Sizes sizes)
    : cases_(cases), sizes_(sizes) {
  sequence_.experiment = std::move(experiment);
  sequence_.name = std::move(name);
}

std::size_t SequenceMaker::part(const std::vector<std::string>& tokens, const std::string& shape) {
  const auto fits = [&](const CaseEntry& entry) {
    const auto holds = [&](const std::string& token) {
      return entry.name.find(token) != std::string::npos;
    };
    return std::all_of(tokens.begin(), tokens.end(), holds) &&
           (sizes_ == Sizes::toy || entry.name.ends_with(shape));
  };
  const auto found = std::find_if(cases_.begin(), cases_.end(), fits);
  if (found == cases_.end()) {
    sequence_.missing = "no case";
    for (const std::string& token : tokens) sequence_.missing += " " + token;
    if (sizes_ == Sizes::timed) sequence_.missing += " that ends in " + shape;
    return 0;
  }
  const auto same = [&](const Part& p) { return p.entry.name == found->name; };
  const auto known = std::find_if(sequence_.parts.begin(), sequence_.parts.end(), same);
  if (known != sequence_.parts.end()) {
    return static_cast<std::size_t>(known - sequence_.parts.begin());
  }
  return part(Part{*found, found->name});
}

std::size_t SequenceMaker::part(Part made) {
  sequence_.parts.push_back(std::move(made));
  return sequence_.parts.size() - 1;
}

std::size_t SequenceMaker::again(std::size_t same) {
  return sequence_.parts.empty() ? 0 : part(Part(sequence_.parts[same]));
}

int SequenceMaker::step(std::size_t part, int stream, std::vector<int> after) {
  sequence_.steps.push_back({part, stream, std::move(after)});
  return static_cast<int>(sequence_.steps.size()) - 1;
}

SequenceMaker& SequenceMaker::parameter(const std::string& name, std::int64_t value) {
  sequence_.parameters.emplace_back(name, value);
  return *this;
}

SequenceMaker& SequenceMaker::label(const std::string& text) {
  sequence_.labels.push_back(text);
  return *this;
}

}  // namespace tiersim::kernels::bench
