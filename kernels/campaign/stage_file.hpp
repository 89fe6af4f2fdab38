// The file of one stage, saved as it goes. Finished cases are not repeated, so that an interrupted
// campaign resumes where it stopped.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {

// The existing file is of other sources, another device or another seed.
class OtherCampaign : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::int64_t kMostBytes = 60'000'000;      // of all files of a campaign
constexpr std::int64_t kMostFileBytes = 16'000'000;  // of one file: the limit of a borrowed machine

class StageFile {
 public:
  // Opens folder/<stage>.json, or creates it with this context. Throws OtherCampaign where the
  // file's build, device, seed, class or sizes differ, and JsonError where it cannot be read.
  // saved_every: least time between two saves of results.
  StageFile(const std::filesystem::path& folder, Json context,
            std::chrono::milliseconds saved_every = std::chrono::seconds(2));
  ~StageFile();  // saves; a failure is printed only, so call finish() before
  StageFile(const StageFile&) = delete;
  StageFile& operator=(const StageFile&) = delete;

  bool has(const std::string& name) const;  // a result, not a refusal
  bool refused(const std::string& name) const;
  const Json* find(const std::string& name) const;  // the result, or null
  // Saves the name of the case that runs next. If the process ends before add() or refuse(), the
  // next process that opens the file refuses that case.
  void begin(const std::string& name) const;
  // refuse() saves; add() does where the last time is long enough ago, since the file of a large
  // stage takes a tenth of a second. A result replaces an earlier refusal of the same name.
  void add(Json entry);
  void refuse(const std::string& name, const std::string& reason);

  void finish();  // saves what is not saved yet

  const Json& document() const { return document_; }
  std::size_t refusals() const { return document_.at("refused").array().size(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  void forget_refusal(const std::string& name);
  void save();  // atomically: a reader never sees half a file

  std::filesystem::path running() const { return path_.string() + ".running"; }

  std::filesystem::path path_;
  Json document_;
  std::chrono::milliseconds saved_every_;
  std::chrono::steady_clock::time_point saved_;
  bool unsaved_ = false;
};

// The document of a stage in a campaign's folder; a null value where the stage has not run.
Json read_stage(const std::filesystem::path& folder, const std::string& stage);

// Throws std::runtime_error with the file or the sum that is too large.
void check_size(const std::filesystem::path& folder);

}  // namespace tiersim::kernels::bench
