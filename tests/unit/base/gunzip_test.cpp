// Files that gzip packed: whole, in members, cut, damaged, too large.
#include "sim/base/gunzip.hpp"

#include <zlib.h>

#include <gtest/gtest.h>

namespace tiersim::gunzip_test {
namespace {

std::string packed(std::string text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const std::string kLong(200'000, 'x');  // more than two pieces of the content

TEST(Gunzip, LeavesATextThatIsNotPacked) {
  EXPECT_EQ(*gunzipped("a,b\n"), "a,b\n");
  EXPECT_EQ(*gunzipped(""), "");
}

TEST(Gunzip, UnpacksEveryMember) {
  EXPECT_EQ(*gunzipped(packed("a")), "a");
  EXPECT_EQ(*gunzipped(packed("")), "");
  EXPECT_EQ(*gunzipped(packed("a") + packed(kLong) + packed("") + packed("b")), "a" + kLong + "b");
}

TEST(Gunzip, OfPiecesIsThatOfTheWhole) {
  const std::string file = packed("a") + packed(kLong);
  Gunzip gunzip;
  std::string out;
  for (std::size_t i = 0; i < file.size(); ++i) {
    EXPECT_FALSE(i > 0 && i != packed("a").size() && gunzip.ended()) << i;
    ASSERT_TRUE(gunzip.add(file.substr(i, 1), out)) << i;
  }
  EXPECT_TRUE(gunzip.ended());
  EXPECT_EQ(out, "a" + kLong);
}

TEST(Gunzip, RefusesWhatIsCutOrChanged) {
  const std::string file = packed("a") + packed("some text");
  const std::size_t first = packed("a").size();
  for (std::size_t size = 2; size < file.size(); ++size) {
    if (size == first) continue;  // the first member alone is a file
    EXPECT_EQ(gunzipped(file.substr(0, size)).error(), kDamagedGzip) << size;
  }
  std::string changed = file;
  changed[file.size() - 5] ^= 1;  // of the checksum
  EXPECT_EQ(gunzipped(changed).error(), kDamagedGzip);
  EXPECT_EQ(gunzipped(file + "rest").error(), kDamagedGzip);
}

TEST(Gunzip, RefusesMoreThanTheLimit) {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  EXPECT_EQ(gunzipped(packed(std::string(kMiB, 'x')), kMiB)->size(), kMiB);
  EXPECT_EQ(gunzipped(packed(std::string(kMiB + 1, 'x')), kMiB).error(), "holds more than 1 MiB");
}

}  // namespace
}  // namespace tiersim::gunzip_test
