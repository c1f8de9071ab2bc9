#include <gtest/gtest.h>

#include "fetch_into.hpp"
#include "s3_fixture.hpp"
#include "supervisor/courier/upload/s3/s3_credentials.hpp"
#include "supervisor/courier/upload/s3/s3_store.hpp"
#include "supervisor/courier/upload/s3/xml.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;
using test::FakeS3;
using Fault = FakeS3::Fault;

TEST_F(S3, PublishesInPartsAndBringsBack) {
  FakeS3 server;
  auto to = target(server);
  ASSERT_TRUE(to->check());
  const Package what = package();
  std::int64_t last = 0;
  const auto published = to->publish(what, [&](std::int64_t bytes) { last = bytes; });
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(last, 2'500'005);
  expect_published(server, what);
  EXPECT_TRUE(memory.values.empty());

  const auto again = to->publish(what, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sent_bytes, 0);
  expect_published(server, what);

  const auto remotes = to->list("gpt");
  ASSERT_TRUE(remotes) << remotes.error().message();
  ASSERT_EQ(remotes->size(), 1U);
  EXPECT_EQ(remotes->front().origin, "{checkpoint_dir}/step-5");
  EXPECT_TRUE(to->verify("gpt", remotes->front()));
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  const auto fetched = to->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(fs::file_size(into / "model.safetensors"), 2'500'000U);
  expect_signed(server);
}

TEST_F(S3, AListingOfManyPortions) {
  FakeS3 server;
  auto to = target(server);
  for (int step = 1; step <= 7; ++step) {
    const auto published =
        to->publish(make_package(folder, "step-" + std::to_string(step), step, {{"a", "x"}}), {});
    ASSERT_TRUE(published) << published.error().message();
  }
  const auto remotes = to->list("gpt");
  ASSERT_TRUE(remotes);
  ASSERT_EQ(remotes->size(), 7U);
  EXPECT_EQ(remotes->front().step, 7);
  expect_signed(server);
}

// Each fault at each request, and then again: what was begun goes on, in another process as well,
// and in the end all of it is there once.
TEST_F(S3, AnyFaultAtAnyRequest) {
  const Package what = package();
  std::size_t requests = 0;
  {
    FakeS3 server;
    ASSERT_TRUE(target(server)->publish(what, {}));
    requests = server.count();
    memory.values.clear();
  }
  ASSERT_GT(requests, 10U);
  for (const Fault fault :
       {Fault::refuse_500, Fault::slow_down_503, Fault::drop_before, Fault::lose_answer,
        Fault::no_such_upload, Fault::skewed, Fault::damaged, Fault::cut_answer}) {
    for (std::size_t number = 0; number < requests; ++number) {
      SCOPED_TRACE(testing::Message()
                   << "fault " << static_cast<int>(fault) << " at request " << number);
      memory.values.clear();
      FakeS3 server([&](std::size_t at, const test::HttpRequest&) {
        return at == number ? fault : Fault::none;
      });
      Result<Published> published = fail(ErrorKind::transient, "not tried");
      int tries = 0;
      while (!published && tries++ < 4) {
        auto to = target(server);
        published = to->publish(what, {});
        if (!published) {
          ASSERT_EQ(published.error().kind, ErrorKind::transient) << published.error().message();
          EXPECT_EQ(published.error().message().find(FakeS3::secret), std::string::npos);
          if (fault == Fault::slow_down_503) {
            EXPECT_GE(to->wait_ms().value_or(0), 7'000);
          }
        }
      }
      ASSERT_TRUE(published) << published.error().message();
      EXPECT_LE(tries, 2);
      expect_published(server, what);
      if (number == requests / 2) expect_signed(server);
    }
  }
}

TEST_F(S3, PartsThatHaveArrivedAreNotSentAgain) {
  const Package what = package();
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    static bool once = false;
    const bool third = request.target.find("partNumber=3") != std::string::npos;
    if (third && !once) {
      once = true;
      return Fault::refuse_500;
    }
    return Fault::none;
  });
  ASSERT_FALSE(target(server)->publish(what, {}));
  ASSERT_TRUE(target(server)->publish(what, {}));
  std::map<std::string, int> parts;
  for (const auto& request : server.server().requests()) {
    const auto part = request.target.find("partNumber=");
    if (part != std::string::npos) ++parts[request.target.substr(part, 12)];
  }
  EXPECT_EQ(parts["partNumber=1"], 1);
  EXPECT_EQ(parts["partNumber=2"], 1);
  EXPECT_EQ(parts["partNumber=3"], 2);
}

TEST_F(S3, WhatIsGivenUpIsAborted) {
  const Package what = package();
  FakeS3 server([](std::size_t, const test::HttpRequest& request) {
    return request.target.find("partNumber=2") != std::string::npos ? Fault::refuse_500
                                                                    : Fault::none;
  });
  ASSERT_FALSE(target(server)->publish(what, {}));
  EXPECT_EQ(server.open_uploads(), 1U);
  const auto abandoned = target(server)->abandon("gpt", "step-5");
  ASSERT_TRUE(abandoned) << abandoned.error().message();
  EXPECT_EQ(server.open_uploads(), 0U);
  EXPECT_TRUE(server.objects().empty());
}

TEST_F(S3, AServerWithoutConditions) {
  FakeS3 server;
  server.refuse_conditions();
  const Package what = package();
  const auto published = target(server)->publish(what, {});
  ASSERT_TRUE(published) << published.error().message();
  expect_published(server, what);
}

// The pointer to the newest is moved all the same.
TEST_F(S3, AServerThatComparesOtherwise) {
  FakeS3 server;
  server.compare_without_quotes();
  ASSERT_TRUE(target(server)->publish(package(), {}));
  server.change(at("gpt/latest.json"), "{}");
  const auto published = target(server)->publish(package(), {});
  ASSERT_TRUE(published) << published.error().message();
  expect_published(server, package());
  EXPECT_NE(server.objects().at(at("gpt/latest.json")).find("step-5"), std::string::npos);
}

TEST_F(S3, KeysStayBehindWhenADownloadIsElsewhere) {
  FakeS3 server;
  ASSERT_TRUE(target(server)->publish(package(), {}));
  const auto objects = server.objects();
  test::HttpScript elsewhere([&](const test::HttpRequest& request) {
    const std::string path(request.path());
    for (const auto& [key, text] : objects) {
      if (path.ends_with(key.substr(key.rfind('/')))) return test::HttpStep{.body = text};
    }
    return test::HttpStep{.status = 404};
  });
  const auto remotes = target(server)->list("gpt");
  ASSERT_TRUE(remotes);
  server.redirect_downloads_to(elsewhere.url("/cdn"));
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  const auto fetched =
      target(server)->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  ASSERT_FALSE(elsewhere.requests().empty());
  for (const auto& request : elsewhere.requests()) {
    EXPECT_FALSE(request.has("authorization"));
    EXPECT_FALSE(request.has("x-amz-date"));
  }
}

bool is_listing(const test::HttpRequest& request) {
  return request.target.find("list-type=2") != std::string::npos;
}

TEST_F(S3, AListingIsReadAtNoOtherServer) {
  FakeS3 server;
  test::HttpScript elsewhere([](const test::HttpRequest&) { return test::HttpStep{.body = ""}; });
  ASSERT_TRUE(target(server)->publish(package(), {}));
  server.alter([&](const test::HttpRequest& request, test::HttpStep& step) {
    if (!is_listing(request)) return;
    step = {.status = 307, .headers = {{"Location", elsewhere.url("/x")}}};
  });
  EXPECT_FALSE(target(server)->list("gpt"));
  EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(S3, AListingWithoutAnEndHasOne) {
  FakeS3 server;
  int page = 0;
  server.alter([&](const test::HttpRequest& request, test::HttpStep& step) {
    if (!is_listing(request)) return;
    step.body = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>" +
                std::to_string(++page) + "</NextContinuationToken></ListBucketResult>";
  });
  const auto listed = target(server)->list("gpt");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().kind, ErrorKind::permanent);
  EXPECT_NE(listed.error().message().find("without end"), std::string::npos);
}

TEST_F(S3, WhatAServerSaysOfAnObjectThatItHasTakenDoesNotMatter) {
  FakeS3 server;
  server.alter([](const test::HttpRequest& request, test::HttpStep& step) {
    if (request.method == "PUT") step.body.assign(200'000, 'x');
  });
  const auto published = target(server)->publish(package(), {});
  EXPECT_TRUE(published) << published.error().message();
}

TEST_F(S3, ACutDownloadGoesOnWhereItWasCut) {
  int cuts = 0;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool file =
        request.method == "GET" && request.target.find("model.safetensors") != std::string::npos;
    return file && ++cuts <= 3 ? Fault::cut_answer : Fault::none;
  });
  ASSERT_TRUE(target(server)->publish(package(), {}));
  const auto remotes = target(server)->list("gpt");
  ASSERT_TRUE(remotes);
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  const auto fetched =
      target(server)->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(cuts, 4);
}

TEST_F(S3, ACutDownloadBeginsAnewWhereTheServerKnowsNoRanges) {
  int cuts = 0;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool file =
        request.method == "GET" && request.target.find("model.safetensors") != std::string::npos;
    return file && ++cuts == 1 ? Fault::cut_answer : Fault::none;
  });
  server.ignore_ranges();
  ASSERT_TRUE(target(server)->publish(package(), {}));
  const auto remotes = target(server)->list("gpt");
  ASSERT_TRUE(remotes);
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  const auto fetched =
      target(server)->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
}

TEST_F(S3, WhatTheServerLostIsMissed) {
  FakeS3 server;
  ASSERT_TRUE(target(server)->publish(package(), {}));
  const auto remotes = target(server)->list("gpt");
  ASSERT_TRUE(remotes);
  server.change(at("gpt/step-5/model.safetensors"), "short");
  const auto verified = target(server)->verify("gpt", remotes->front());
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().kind, ErrorKind::corrupt);
}

TEST_F(S3, ARefusalSaysWhatToDo) {
  struct Case {
    int status;
    const char* body;
    ErrorKind kind;
    const char* word;
  };
  for (const Case& one :
       {Case{403, "<Error><Code>InvalidAccessKeyId</Code></Error>", ErrorKind::permanent, "keys"},
        Case{403, "<Error><Code>AccessDenied</Code></Error>", ErrorKind::permanent, "PutObject"},
        Case{404, "<Error><Code>NoSuchBucket</Code></Error>", ErrorKind::permanent, "bucket"},
        Case{301, "<Error><Code>PermanentRedirect</Code></Error>", ErrorKind::permanent, "address"},
        Case{400, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-2</Region></Error>",
             ErrorKind::permanent, "eu-2"},
        Case{403, "not xml <<<", ErrorKind::permanent, "allowed"},
        Case{503, "", ErrorKind::transient, "503"}}) {
    test::HttpScript server{{.status = one.status, .body = one.body}};
    const orders::S3Place place{server.url(""), "bucket", "", "us-east-1", keys};
    const auto checked = s3::S3Store(place, memory, {}).check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, one.kind) << one.body;
    EXPECT_NE(checked.error().message().find(one.word), std::string::npos)
        << checked.error().message();
  }
}

TEST_F(S3, KeysAreReadFromFilesThatOthersCannotRead) {
  EXPECT_TRUE(s3::read_keys(keys));
  fs::permissions(keys, fs::perms::group_read, fs::perm_options::add);
  const auto open = s3::read_keys(keys);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message().find("chmod 600"), std::string::npos);
  for (const char* text : {"ID SECRET\n", "ID\nSECRET\n", "ID\nSEC=\n",
                           "# x\n[other]\naws_access_key_id=no\naws_secret_access_key=no\n"
                           "[default]\naws_access_key_id=ID\naws_secret_access_key=SECRET\n"}) {
    const auto file = folder.write("more", text);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    const auto read = s3::read_keys(file.string());
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->id, "ID");
  }
  const auto file = folder.write("more", "hunter2");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const auto wrong = s3::read_keys(file.string());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message().find("hunter2"), std::string::npos);
}

TEST(S3Parts, AreOfOneSizeUnlessThereWereTooMany) {
  constexpr std::int64_t mib = 1 << 20;
  EXPECT_EQ(s3::part_bytes(1 << 30), 64 * mib);
  EXPECT_EQ(s3::part_bytes(10'000 * 64 * mib), 64 * mib);
  EXPECT_EQ(s3::part_bytes(10'000 * 64 * mib + 1), 65 * mib);
  const std::int64_t huge = std::int64_t{5} << 40;
  EXPECT_LE((huge + s3::part_bytes(huge) - 1) / s3::part_bytes(huge), 10'000);
}

TEST(S3Xml, NothingOfAStrangerHurts) {
  EXPECT_EQ(s3::read_refusal("").code, "");
  EXPECT_EQ(s3::read_refusal("<Error><Code>" + std::string(1 << 20, 'x') + "</Code></Error>").code,
            "");
  EXPECT_FALSE(s3::read_listing("<Listing/>"));
  EXPECT_EQ(s3::read_upload_id("<!DOCTYPE x [<!ENTITY a \"b\">]><InitiateMultipartUploadResult>"
                               "<UploadId>&a;</UploadId></InitiateMultipartUploadResult>"),
            "&a;")
      << "entities stay what they are";
  EXPECT_EQ(s3::complete_text({"\"a\"", "b<"}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>b&lt;</ETag></Part></CompleteMultipartUpload>");
}

}  // namespace
}  // namespace trainward::upload
