// The examples that Amazon publishes for signatures of version 4.
#include <gtest/gtest.h>

#include "common/base/percent.hpp"
#include "supervisor/courier/upload/s3/s3_signature.hpp"

namespace trainward::upload::s3 {
namespace {

constexpr const char* empty_sha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const Keys example_keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};

std::string signature_of(const ToSign& request) {
  const std::string all = authorization(request, example_keys, "20130524T000000Z", "us-east-1");
  return all.substr(all.find("Signature=") + 10);
}

ToSign example(std::string method, std::string path, Pairs query, Pairs more = {}) {
  ToSign out{std::move(method),
             std::move(path),
             std::move(query),
             {{"host", "examplebucket.s3.amazonaws.com"},
              {"x-amz-content-sha256", empty_sha256},
              {"x-amz-date", "20130524T000000Z"}},
             empty_sha256};
  for (auto& header : more) out.headers.push_back(std::move(header));
  return out;
}

TEST(Signature, IsThatOfThePublishedExamples) {
  EXPECT_EQ(signature_of(example("GET", "/test.txt", {}, {{"range", "bytes=0-9"}})),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(signature_of(example("GET", "/", {{"lifecycle", ""}})),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(signature_of(example("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}})),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  ToSign put = example(
      "PUT", "/" + percent_encoded("test$file.text", "/"), {},
      {{"date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}});
  put.payload_sha256 = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  put.headers[1].second = put.payload_sha256;
  EXPECT_EQ(signature_of(put), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(Signature, OfAnotherService) {
  const ToSign request{"GET",
                       "/",
                       {},
                       {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
                       empty_sha256};
  const Keys keys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  EXPECT_EQ(authorization(request, keys, "20150830T123600Z", "us-east-1", "service"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(Signature, EncodesEveryByteThatIsNotPlain) {
  EXPECT_EQ(percent_encoded("a+b=c/ü~_.-", "/"), "a%2Bb%3Dc/%C3%BC~_.-");
  EXPECT_EQ(percent_encoded("a/b"), "a%2Fb");
  EXPECT_EQ(query_text({{"b", "2"}, {"a", "x y"}, {"uploads", ""}}), "a=x%20y&b=2&uploads=");
}

TEST(Signature, TimeIsOfUtc) { EXPECT_EQ(signing_time(1'369'353'600'000), "20130524T000000Z"); }

}  // namespace
}  // namespace trainward::upload::s3
