#include "trainer/pjrt/buffer.hpp"

#include <gmock/gmock.h>

#include "counting.hpp"

namespace trainward::pjrt {
namespace {

using test::expect_clean;
using test::fresh_control;
using test::make_client;
using testing::HasSubstr;

TEST(Buffer, EveryElementAndRankComesBack) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    std::vector<std::byte> bytes(256);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    const std::pair<graph::Element, std::size_t> elements[] = {{graph::Element::f32, 4},
                                                               {graph::Element::bf16, 2},
                                                               {graph::Element::i32, 4},
                                                               {graph::Element::pred, 1}};
    for (const auto& [element, size] : elements) {
      for (const graph::Shape& shape :
           {graph::Shape{}, graph::Shape{5}, graph::Shape{2, 3}, graph::Shape{2, 3, 4}}) {
        const graph::Type type{element, shape};
        const auto buffer = client->upload(1, type, bytes.data());
        ASSERT_TRUE(buffer);
        EXPECT_EQ(buffer->type().value(), type);
        std::vector<std::byte> back(static_cast<std::size_t>(graph::element_count(shape)) * size);
        const auto downloaded = buffer->download(back);
        ASSERT_TRUE(downloaded) << to_error(downloaded.error()).message();
        EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin()));
      }
    }
  }
  expect_clean(control);
}

TEST(Buffer, WithoutElements) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto buffer = client->upload(0, {graph::Element::f32, {3, 0}}, nullptr);
    ASSERT_TRUE(buffer);
    EXPECT_TRUE(buffer->download({}));
  }
  expect_clean(control);
}

TEST(Buffer, RoomOfAnotherSizeIsRefused) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const float values[4] = {};
    const auto buffer = client->upload(0, {graph::Element::f32, {2, 2}}, values);
    std::byte room[15];
    const auto downloaded = buffer->download(room);
    ASSERT_FALSE(downloaded);
    EXPECT_EQ(downloaded.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(downloaded.error().text, HasSubstr("f32[2,2]"));
    EXPECT_THAT(downloaded.error().text, HasSubstr("15 bytes"));
  }
  expect_clean(control);
}

TEST(Buffer, IsAskedOnceWhetherItIsReady) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const float one = 1;
    const auto buffer = client->upload(0, {graph::Element::f32, {}}, &one);
    EXPECT_TRUE(buffer->wait());
    EXPECT_TRUE(buffer->wait());
    EXPECT_EQ(control.calls["Buffer_ReadyEvent"], 1);

    // An answer that was an error stays one.
    const auto failed = client->upload(0, {graph::Element::f32, {}}, &one);
    control.fail_call = "Event_Await";
    control.fail_at = 1;
    control.fail_text = "the computation failed";
    for (int i = 0; i < 2; ++i) {
      const auto waited = failed->wait();
      ASSERT_FALSE(waited);
      EXPECT_EQ(waited.error().call, "Buffer_ReadyEvent");
      EXPECT_EQ(waited.error().text, "the computation failed");
    }
  }
  expect_clean(control);
}

TEST(Buffer, DonatedOnesHoldNothing) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto executable = client->compile("copies=1 donates=0");
    const float values[2] = {3, 4};
    auto buffer = client->upload(0, {graph::Element::f32, {2}}, values);
    ASSERT_TRUE(executable && buffer);
    const std::vector<std::vector<const Buffer*>> arguments = {{&*buffer}};
    auto results = executable->run(arguments);
    ASSERT_TRUE(results);
    float back[2];
    EXPECT_FALSE(buffer->download(std::as_writable_bytes(std::span(back))));
    EXPECT_FALSE(executable->run(arguments));
    // The usual loop: the result takes the argument's place.
    *buffer = std::move((*results)[0][0]);
    ASSERT_TRUE(buffer->download(std::as_writable_bytes(std::span(back))));
    EXPECT_EQ(back[1], 4);
    EXPECT_TRUE(executable->run(arguments));
  }
  expect_clean(control);
}

}  // namespace
}  // namespace trainward::pjrt
