#include "sim/base/sha256.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace tiersim::sha256_test {
namespace {

// The examples of FIPS 180-4 and the length at which the padding takes a second block.
TEST(Sha256, MatchesThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Texts that are alike up to the middle of a block, to its end, and not at all.
TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  std::string whole;
  for (int i = 0; i < 1000; ++i) whole += static_cast<char>(i * 7);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                  std::size_t{500}, std::size_t{1000}}) {
    Sha256 hash;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
      EXPECT_EQ(hash.digest(), sha256(std::string_view(whole).substr(0, at))) << piece << ' ' << at;
      hash.add(std::string_view(whole).substr(at, piece));
    }
    EXPECT_EQ(hash.digest(), sha256(whole)) << piece;
  }
}

TEST(RepeatedSha256, IsThatOfEachTextByItself) {
  RepeatedSha256 repeated;
  for (const std::size_t alike : {200U, 200U, 150U, 192U, 191U, 64U, 63U, 0U, 128U})
    for (const std::size_t more : {0U, 1U, 55U, 64U, 300U}) {
      const std::string text = std::string(alike, 'a') + std::string(more, 'b');
      EXPECT_EQ(repeated.of(text), sha256(text)) << alike << ' ' << more;
    }
}

TEST(RepeatedSha256, DoesNotCompareWhatIsKnownToBeTheSame) {
  RepeatedSha256 repeated;
  std::size_t before = 0;
  for (const std::size_t alike : {200U, 200U, 150U, 192U, 63U, 128U}) {
    const std::string text = std::string(alike, 'a') + std::string(70, 'b');
    EXPECT_EQ(repeated.of(text, std::min(alike, before)), sha256(text)) << alike;
    before = alike;
  }
}

}  // namespace
}  // namespace tiersim::sha256_test
