#include "kernels/campaign/stage_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "kernels/campaign/documents.hpp"

namespace tiersim::kernels::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFreshHint = " (--fresh starts over)";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

Json parse_file(const fs::path& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const JsonError& error) {
    throw JsonError(path.string() + ":" + error.what() + kFreshHint);
  }
}

// Members that the stage's file must have before any lookup.
void expect_readable(const Json& document, const fs::path& path) {
  try {
    for (const char* list : {"benchmarks", "refused"}) {
      for (const Json& each : document.at(list).array()) each.at("name").text();
    }
    const Json& context = document.at("context");
    for (const char* name : {"stage", "class", "sizes", "seed"}) context.at(name);
    context.at("build").at("id");
    context.at("device").at("name");
  } catch (const JsonError& error) {
    throw JsonError(path.string() + ": " + error.what() + kFreshHint);
  }
}

void expect_same(const Json& there, const Json& here, const fs::path& path) {
  const auto differ = [&](const char* what, const Json& a, const Json& b) {
    if (a.dump() == b.dump()) return;
    throw OtherCampaign(path.string() + " is of another campaign: its " + what + " is " + a.dump() +
                        ", here " + b.dump() + kFreshHint);
  };
  for (const char* name : {"stage", "class", "sizes", "seed"}) {
    differ(name, there.at(name), here.at(name));
  }
  differ("build", there.at("build").at("id"), here.at("build").at("id"));
  differ("device", there.at("device").at("name"), here.at("device").at("name"));
}

}  // namespace

StageFile::StageFile(const fs::path& folder, Json context, std::chrono::milliseconds saved_every)
    : saved_every_(saved_every) {
  const std::string stage = context.at("stage").text();
  fs::create_directories(folder);
  path_ = folder / (stage + ".json");
  if (fs::exists(path_)) {
    document_ = parse_file(path_);
    expect_readable(document_, path_);
    expect_same(document_.at("context"), context, path_);
    document_.set("context", std::move(context));  // the newest date and clocks
    if (fs::exists(running())) {
      refuse(read_file(running()), "the process ended while it ran: a hang or a crash");
    }
    return;
  }
  document_.set("schema", schema_of_stage(stage));
  document_.set("context", std::move(context));
  document_.set("benchmarks", Json::Array{});
  document_.set("refused", Json::Array{});
  save();
}

const Json* StageFile::find(const std::string& name) const {
  for (const Json& entry : document_.at("benchmarks").array()) {
    if (entry.at("name").text() == name) return &entry;
  }
  return nullptr;
}

bool StageFile::has(const std::string& name) const {
  return find(name) != nullptr;
}

bool StageFile::refused(const std::string& name) const {
  const Json::Array& all = document_.at("refused").array();
  return std::any_of(all.begin(), all.end(),
                     [&](const Json& each) { return each.at("name").text() == name; });
}

void StageFile::begin(const std::string& name) const {
  std::ofstream(running(), std::ios::binary) << name;
}

void StageFile::forget_refusal(const std::string& name) {
  Json::Array kept;
  for (const Json& refused : document_.at("refused").array()) {
    if (refused.at("name").text() != name) kept.push_back(refused);
  }
  document_.set("refused", std::move(kept));
}

void StageFile::add(Json entry) {
  forget_refusal(entry.at("name").text());
  document_.at("benchmarks").push_back(std::move(entry));
  unsaved_ = true;
  if (std::chrono::steady_clock::now() - saved_ >= saved_every_) {
    save();
  } else {
    fs::remove(running());
  }
}

void StageFile::refuse(const std::string& name, const std::string& reason) {
  forget_refusal(name);
  document_.at("refused").push_back(Json::Object{{"name", name}, {"reason", reason}});
  save();
}

StageFile::~StageFile() {
  try {
    finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

void StageFile::finish() {
  if (unsaved_) save();
}

void StageFile::save() {
  const fs::path next = path_.string() + ".next";
  {
    std::ofstream out(next, std::ios::binary);
    out << document_.dump(2) << '\n';
    if (!out.flush()) throw std::runtime_error("cannot write " + next.string());
  }
  fs::rename(next, path_);
  fs::remove(running());
  saved_ = std::chrono::steady_clock::now();
  unsaved_ = false;
}

Json read_stage(const fs::path& folder, const std::string& stage) {
  const fs::path path = folder / (stage + ".json");
  return fs::exists(path) ? parse_file(path) : Json();
}

void check_size(const fs::path& folder) {
  std::int64_t all = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    const auto bytes = static_cast<std::int64_t>(file.file_size());
    if (bytes > kMostFileBytes) {
      throw std::runtime_error(file.path().string() + " has " + std::to_string(bytes) +
                               " B, more than " + std::to_string(kMostFileBytes));
    }
    all += bytes;
  }
  if (all > kMostBytes) {
    throw std::runtime_error(folder.string() + " has " + std::to_string(all) + " B, more than " +
                             std::to_string(kMostBytes));
  }
}

}  // namespace tiersim::kernels::bench
