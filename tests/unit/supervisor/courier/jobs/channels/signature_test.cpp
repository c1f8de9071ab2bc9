// Signatures against values that were made elsewhere: the example of the Standard Webhooks
// specification's own libraries, and Python's hmac.
#include <gmock/gmock.h>

#include <string>

#include "common/base/base64.hpp"
#include "supervisor/courier/forms/form_signature.hpp"

namespace trainward::courier {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
constexpr const char* body = R"({"test": 2432232314})";

TEST(Signature, IsThatOfTheSpecification) {
  const auto keys = signing_keys(key);
  ASSERT_TRUE(keys);
  EXPECT_EQ(signatures(*keys, id, "1614265330", body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(Signature, IsMadeByEachKeyWhileOneIsExchanged) {
  const auto keys = signing_keys(std::string("# the new one\n") + key + "\n\n" +
                                 "whsec_dHJhaW53YXJkIGtleSBvZiAyNCBieXRl\n");
  ASSERT_TRUE(keys);
  EXPECT_EQ(signatures(*keys, id, "1614265330", body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= "
            "v1,M73+Z2sUEM/dGB1DCI9d5nsFoJ6yIHSUyQ/6v0WhmMo=");
}

TEST(Signature, TakesKeysOf24To64Bytes) {
  const auto longest = signing_keys(
      "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw"
      "==");
  ASSERT_TRUE(longest);
  EXPECT_EQ(signatures(*longest, "a", "1", ""), "v1,fsCoCVDG4FDO4a5f2Vjpbmiq7zn0WFvO3/QaiI+lUbI=");
  EXPECT_FALSE(signing_keys("whsec_" + base64(std::string(23, 'x'))));
  EXPECT_TRUE(signing_keys("whsec_" + base64(std::string(24, 'x'))));
  EXPECT_TRUE(signing_keys("whsec_" + base64(std::string(64, 'x'))));
  EXPECT_FALSE(signing_keys("whsec_" + base64(std::string(65, 'x'))));
}

TEST(Signature, SaysWhatIsWrongWithAKeyWithoutTheKey) {
  for (const std::string wrong :
       {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwj!UPD8", "whsec_MfKQ9r8G", ""}) {
    const auto keys = signing_keys(wrong);
    ASSERT_FALSE(keys) << wrong;
    EXPECT_THAT(keys.error().message(), Not(HasSubstr("MfKQ9r8G")));
  }
  std::string five;
  for (int i = 0; i < 5; ++i) five += std::string(key) + "\n";
  EXPECT_FALSE(signing_keys(five));
}

TEST(Signature, Base64ComesBack) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string bytes(size, '\xfe');
    EXPECT_EQ(from_base64(base64(bytes)).value_or("wrong"), bytes);
  }
}

}  // namespace
}  // namespace trainward::courier
