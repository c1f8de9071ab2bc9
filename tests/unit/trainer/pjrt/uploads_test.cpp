#include <gtest/gtest.h>

#include <array>

#include "counting.hpp"
#include "trainer/pjrt/device_uploads.hpp"

namespace trainward::pjrt {
namespace {

using test::expect_clean;
using test::fresh_control;
using test::make_client;

using Values = std::array<float, 4>;
const graph::Type four{graph::Element::f32, {4}};

Values values_of(const Buffer& buffer) {
  Values back{};
  EXPECT_TRUE(buffer.download(std::as_writable_bytes(std::span(back))));
  return back;
}

// The plugin takes what is lent only when it is waited for: what arrives shows when that was.
TEST(Uploads, LendTheMemoryAndWaitBeyondTheLimit) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    std::array<Values, 3> memory{{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}};
    Uploads uploads(*client, 2 * sizeof(Values));
    std::vector<Buffer> buffers;
    for (const Values& values : memory) {
      auto buffer = uploads.add(0, four, values.data());
      ASSERT_TRUE(buffer);
      buffers.push_back(std::move(*buffer));
    }
    memory[0] = {9, 9, 9, 9};  // has arrived: there was no room for three
    memory[2] = {4, 4, 4, 4};  // is still lent
    ASSERT_TRUE(uploads.wait());
    memory[1] = {9, 9, 9, 9};
    EXPECT_EQ(values_of(buffers[0]), (Values{1, 1, 1, 1}));
    EXPECT_EQ(values_of(buffers[1]), (Values{2, 2, 2, 2}));
    EXPECT_EQ(values_of(buffers[2]), (Values{4, 4, 4, 4}));
  }
  expect_clean(control);
}

TEST(Uploads, WaitWhenTheyEnd) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const Values values{1, 2, 3, 4};
    std::optional<Buffer> buffer;
    {
      Uploads uploads(*client);
      auto added = uploads.add(1, four, values.data());
      ASSERT_TRUE(added);
      buffer.emplace(std::move(*added));
    }
    EXPECT_EQ(values_of(*buffer), values);
  }
  expect_clean(control);
}

// One larger than the limit goes alone.
TEST(Uploads, AnArrayBeyondTheLimit) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const Values values{1, 2, 3, 4};
    Uploads uploads(*client, 1);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(uploads.add(0, four, values.data()));
    EXPECT_TRUE(uploads.wait());
  }
  expect_clean(control);
}

TEST(Uploads, TenstorrentsPluginGetsCopies) {
  auto& control = fresh_control("counting_plugin_tt");
  {
    const auto client = std::move(*Client::create(test::open_counting("counting_plugin_tt")));
    Values values{1, 2, 3, 4};
    Uploads uploads(*client);
    auto buffer = uploads.add(0, four, values.data());
    ASSERT_TRUE(buffer);
    values = {};
    EXPECT_EQ(values_of(*buffer), (Values{1, 2, 3, 4}));
  }
  expect_clean(control);
}

}  // namespace
}  // namespace trainward::pjrt
