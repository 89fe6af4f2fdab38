// Changed values in a tree that was read before: read_again() gives the result and the texts of a
// complete reading.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::read_again_test {
namespace {

using namespace sample;

struct Setting {
  std::string path;
  std::string value;
};

std::vector<std::string> options(const std::vector<Setting>& settings) {
  std::vector<std::string> out;
  for (const Setting& setting : settings) out.push_back(setting.path + '=' + setting.value);
  return out;
}

// The scalar at a path without dots in its keys.
Node& scalar_at(Node& root, std::string_view path) {
  Node* at = &root;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string key(path.substr(0, dot));
    Entry* entry = at->edit(key);
    at = entry != nullptr ? &entry->value : &at->items.edit().at(std::stoul(key));
    path.remove_prefix(std::min(path.size(), dot + 1));
  }
  return *at;
}

// A configuration that is read completely once.
struct Again {
  explicit Again(const std::vector<Setting>& first) {
    Read got = read_text(kText, options(first));
    EXPECT_EQ(got.mistakes, "");
    root = std::move(got.document).take_root();
    config = std::move(got.config);
    for (const Setting& setting : first) changed.add(setting.path);
    text.emplace(changed);
  }
  bool read(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) scalar_at(root, setting.path).scalar = setting.value;
    return read_again(root, changed, config);
  }

  Node root;
  Experiment config;
  ChangedKeys changed;
  std::optional<RepeatedText> text;
};

void expect_as_whole(Again& again, const std::vector<Setting>& settings) {
  ASSERT_TRUE(again.read(settings));
  const Read whole = read_text(kText, options(settings));
  EXPECT_EQ(whole.mistakes, "");
  EXPECT_EQ(canonical_json(again.config), canonical_json(whole.config));
  EXPECT_EQ(again.text->text_for_id(again.config), canonical_text_for_id(whole.config));
}

TEST(ReadAgain, GivesWhatReadingEverythingGives) {
  Again again({{"step.batch", "4"},
               {"devices.hbm.peak", "4800 GB/s"},
               {"devices.hbm.capacity.value", "141 GB"},
               {"devices.pcie.lanes", "8"},
               {"windows.0.to", "2 ms"},
               {"warm_up.to", "500 us"}});
  for (const char* batch : {"7", "8", "8"})
    for (const char* rate : {"1 TB/s", "2 TB/s"})
      expect_as_whole(again, {{"step.batch", batch},
                              {"devices.hbm.peak", rate},
                              {"devices.hbm.capacity.value", "80 GB"},
                              {"devices.pcie.lanes", "16"},
                              {"windows.0.to", "5 ms"},
                              {"warm_up.to", "1 ms"}});
}

TEST(ReadAgain, LeavesOneDeviceAloneWhereAnotherChanges) {
  Again again(std::vector<Setting>{{"devices.pcie.lanes", "8"}});
  expect_as_whole(again, {{"devices.pcie.lanes", "4"}});
  expect_as_whole(again, {{"devices.pcie.lanes", "2"}});
}

TEST(ReadAgain, FindsMistakesAndGoesOnAfterThem) {
  Again again({{"windows.0.to", "2 ms"}, {"model.heads", "8"}});
  EXPECT_FALSE(again.read({{"windows.0.to", "2 GB"}, {"model.heads", "8"}}));   // no time
  EXPECT_FALSE(again.read({{"windows.0.to", "2 ms"}, {"model.heads", "-1"}}));  // out of range
  EXPECT_FALSE(again.read({{"windows.0.to", "2 ms"}, {"model.heads", "7"}}));   // of 2 kv_heads
  expect_as_whole(again, {{"windows.0.to", "3 ms"}, {"model.heads", "6"}});
}

}  // namespace
}  // namespace tiersim::read_again_test
