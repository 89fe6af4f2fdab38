// The text of a file: what has no end, and what has no begin, is refused.
#include "sim/base/file_text.hpp"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace tiersim::file_text_test {
namespace {

class FileText : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
    return folder_.path() / name;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(FileText, IsEveryByte) {
  const std::string text = std::string("a\0b\r\n", 5) + std::string(100'000, 'x');
  EXPECT_EQ(*file_text(file("a", text)), text);
  EXPECT_EQ(*file_text(file("empty", "")), "");
  EXPECT_EQ(*file_text(file("limit", "1234"), 4), "1234");
}

TEST_F(FileText, SaysWhyThereIsNone) {
  EXPECT_EQ(file_text(path("none")).error(), "No such file or directory");
  EXPECT_EQ(file_text(path("")).error(), "is a folder");
  EXPECT_EQ(file_text(file("large", std::string((2U << 20U) + 1, 'x')), 2U << 20U).error(),
            "is larger than 2 MiB");
}

TEST_F(FileText, EndsWhereTheFileDoesNot) {
  EXPECT_EQ(file_text("/dev/zero", 1U << 20U).error(), "is larger than 1 MiB");
}

TEST_F(FileText, DoesNotWaitForTheWriterOfAPipe) {
  constexpr mode_t kMode = 0600;
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), kMode), 0);
  EXPECT_EQ(file_text(path("pipe")).error(), "is a named pipe, which may never have data");
}

}  // namespace
}  // namespace tiersim::file_text_test
