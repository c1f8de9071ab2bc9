#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include "counting.hpp"
#include "trainer/pjrt/pjrt_client.hpp"

namespace trainward::pjrt {
namespace {

using test::expect_clean;
using test::fresh_control;
using test::make_client;
using test::open_counting;
using testing::HasSubstr;

const graph::Type pair{graph::Element::f32, {2}};
constexpr float two[] = {1, 2};

TEST(Client, TellsOfItsPlatform) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    EXPECT_EQ(client->platform_name(), "counting");
    EXPECT_EQ(client->platform_version(), "1.2.3");
    EXPECT_EQ(client->device_kind(), "abacus");
    EXPECT_EQ(client->device_count(), 2U);
  }
  expect_clean(control);
}

TEST(Client, GivesItsOptionsByNameAndType) {
  auto& control = fresh_control();
  const std::vector<ClientOption> options = {{"allocator", std::string("bfc")},
                                             {"node_id", std::int64_t{7}},
                                             {"visible", std::vector<std::int64_t>{0, 2}},
                                             {"fraction", 0.5F},
                                             {"preallocate", false}};
  make_client(options);
  const std::map<std::string, std::string> expected = {{"allocator", "bfc"},
                                                       {"node_id", "7"},
                                                       {"visible", "0 2 "},
                                                       {"fraction", "0.5"},
                                                       {"preallocate", "false"}};
  EXPECT_EQ(control.options, expected);
  expect_clean(control);
}

TEST(Client, MemoryWhereThePluginTells) {
  auto& control = fresh_control();
  auto client = make_client();
  const auto memory = client->memory(1);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->in_use, 1001);
  EXPECT_EQ(memory->limit, 5000);
  EXPECT_EQ(memory->peak, std::nullopt);
  EXPECT_FALSE(client->memory(2));
  client.reset();
  expect_clean(control);

  fresh_control().missing = {"Device_MemoryStats"};
  EXPECT_FALSE(make_client()->memory(0));
}

TEST(Client, WithoutADevice) {
  auto& control = fresh_control();
  control.devices = 0;
  const auto client = Client::create(open_counting());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::not_found);
  expect_clean(control);
}

TEST(Client, NeedNotKnowVersionAndKind) {
  auto& control = fresh_control();
  control.missing = {"Client_PlatformVersion", "DeviceDescription_Kind"};
  const auto client = make_client();
  EXPECT_EQ(client->platform_version(), "");
  EXPECT_EQ(client->device_kind(), "");
}

TEST(Client, ProgramsRunOnAllTheirDevices) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto executable = client->compile("copies=3", 2);
    ASSERT_TRUE(executable) << to_error(executable.error()).message();
    EXPECT_EQ(executable->output_count(), 3U);
    EXPECT_EQ(executable->replicas(), 2);

    std::vector<Buffer> uploaded;
    for (std::size_t i = 0; i < 4; ++i) {
      const float values[] = {static_cast<float>(i), 10};
      auto buffer = client->upload(i / 2, pair, values);
      ASSERT_TRUE(buffer);
      uploaded.push_back(std::move(*buffer));
    }
    const std::vector<std::vector<const Buffer*>> arguments = {{&uploaded[0], &uploaded[1]},
                                                               {&uploaded[2], &uploaded[3]}};
    const auto results = executable->run(arguments);
    ASSERT_TRUE(results) << to_error(results.error()).message();
    ASSERT_EQ(results->size(), 2U);
    for (std::size_t device = 0; device < 2; ++device) {
      ASSERT_EQ((*results)[device].size(), 3U);
      for (std::size_t k = 0; k < 3; ++k) {
        float values[2] = {};
        ASSERT_TRUE((*results)[device][k].download(std::as_writable_bytes(std::span(values))));
        EXPECT_EQ(values[0], static_cast<float>(2 * device + k % 2));
        EXPECT_EQ(values[1], 10);
      }
    }
  }
  expect_clean(control);
}

TEST(Client, WrongArguments) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto executable = client->compile("copies=1", 2);
    ASSERT_TRUE(executable);
    const auto buffer = client->upload(0, pair, two);
    ASSERT_TRUE(buffer);
    using Rows = std::vector<std::vector<const Buffer*>>;
    for (const Rows& rows :
         {Rows{}, Rows{{&*buffer}}, Rows{{&*buffer}, {}}, Rows{{&*buffer}, {nullptr}}}) {
      const auto results = executable->run(rows);
      ASSERT_FALSE(results);
      EXPECT_EQ(results.error().code, ErrorCode::invalid_argument);
      EXPECT_EQ(results.error().call, "LoadedExecutable_Execute");
    }
    const auto other = make_client();
    const auto foreign = other->upload(0, pair, two);
    ASSERT_TRUE(foreign);
    EXPECT_FALSE(executable->run(Rows{{&*buffer}, {&*foreign}}));

    for (const std::int64_t replicas : {0, -1, 3}) {
      const auto refused = client->compile("copies=1", replicas);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    }
    EXPECT_EQ(client->upload(2, pair, two).error().code, ErrorCode::invalid_argument);
  }
  expect_clean(control);
}

TEST(Client, WhatWasMovedElsewhereIsRefused) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    auto executable = client->compile("copies=1");
    auto buffer = client->upload(0, pair, two);
    ASSERT_TRUE(executable && buffer);
    const Buffer taken = std::move(*buffer);
    const std::vector<std::vector<const Buffer*>> arguments = {{&*buffer}};
    EXPECT_EQ(buffer->wait().error().code, ErrorCode::failed_precondition);
    EXPECT_EQ(buffer->type().error().code, ErrorCode::failed_precondition);
    EXPECT_EQ(executable->run(arguments).error().code, ErrorCode::invalid_argument);
    const Executable other = std::move(*executable);
    EXPECT_EQ(executable->serialize().error().code, ErrorCode::failed_precondition);
    EXPECT_EQ(executable->run(arguments).error().code, ErrorCode::failed_precondition);
  }
  expect_clean(control);
}

TEST(Client, ErrorsCarryCodeCallAndText) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto wrong = client->compile("this is wrong");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(wrong.error().call, "Client_Compile");
    EXPECT_EQ(wrong.error().text, "cannot parse the program");
    EXPECT_EQ(to_error(wrong.error()).kind, ErrorKind::permanent);

    control.fail_call = "LoadedExecutable_Execute";
    control.fail_at = 1;
    control.fail_code = 8;
    control.fail_text = "12 GiB are not enough";
    const auto executable = client->compile("copies=1");
    const auto buffer = client->upload(0, pair, two);
    const std::vector<std::vector<const Buffer*>> arguments = {{&*buffer}};
    const auto full = executable->run(arguments);
    ASSERT_FALSE(full);
    const Error error = to_error(full.error());
    EXPECT_EQ(error.kind, ErrorKind::transient);
    EXPECT_EQ(error.what, "RESOURCE_EXHAUSTED in LoadedExecutable_Execute: 12 GiB are not enough");
    EXPECT_THAT(error.hint, HasSubstr("memory is full"));
    EXPECT_TRUE(executable->run(arguments)) << "the next time it works";

    control.fail_at = 1;
    control.fail_code = 99;  // no such code
    control.fail_text = "";
    EXPECT_EQ(to_error(executable->run(arguments).error()).what,
              "UNKNOWN in LoadedExecutable_Execute");
  }
  expect_clean(control);
}

TEST(Client, ErrorsOfAPluginThatCannotSay) {
  auto& control = fresh_control();
  control.missing = {"Error_GetCode", "Error_Message"};
  {
    const auto client = make_client();
    const auto wrong = client->compile("wrong");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::unknown);
    EXPECT_EQ(wrong.error().text, "");
  }
  expect_clean(control);
}

TEST(Client, CallsThePluginLacksAreNamed) {
  for (const char* call : {"Client_Create", "Client_AddressableDevices", "Client_PlatformName"}) {
    auto& control = fresh_control();
    control.missing = {call};
    const auto client = Client::create(open_counting());
    ASSERT_FALSE(client) << call;
    EXPECT_EQ(client.error().code, ErrorCode::unimplemented);
    EXPECT_EQ(client.error().call, call);
    expect_clean(control);
  }
  auto& control = fresh_control();
  control.missing = {"Event_Await"};
  {
    const auto client = make_client();
    const auto buffer = client->upload(0, pair, two);
    ASSERT_TRUE(buffer);
    const auto waited = buffer->wait();
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().call, "Event_Await");
  }
  expect_clean(control);
}

TEST(Client, ResultsThatAreMissing) {
  auto& control = fresh_control();
  control.null_result = true;
  {
    const auto client = make_client();
    const auto executable = client->compile("copies=2");
    const auto buffer = client->upload(0, pair, two);
    const std::vector<std::vector<const Buffer*>> arguments = {{&*buffer}};
    const auto results = executable->run(arguments);
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().code, ErrorCode::internal);
  }
  expect_clean(control);
}

TEST(Client, SerializedProgramsLoadAgain) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    const auto executable = client->compile("copies=2");
    const auto bytes = executable->serialize();
    ASSERT_TRUE(bytes);
    const auto loaded = client->load(*bytes);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->output_count(), 2U);
    EXPECT_EQ(client->load("nonsense").error().code, ErrorCode::invalid_argument);
  }
  expect_clean(control);
}

TEST(Client, AnotherThreadIsRefused) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    auto executable = client->compile("copies=1");
    std::optional<Buffer> buffer = std::move(*client->upload(0, pair, two));
    const int calls = control.all_calls;
    std::thread([&] {
      const auto refused = [](const auto& outcome) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, ErrorCode::failed_precondition);
        EXPECT_THAT(outcome.error().text, HasSubstr("thread"));
      };
      float values[2];
      const std::vector<std::vector<const Buffer*>> arguments = {{&*buffer}};
      refused(client->compile("copies=1"));
      refused(client->load("counted:copies=1"));
      refused(client->upload(0, pair, two));
      refused(executable->run(arguments));
      refused(executable->serialize());
      refused(buffer->wait());
      refused(buffer->type());
      refused(buffer->download(std::as_writable_bytes(std::span(values))));
      EXPECT_FALSE(client->memory(0));
    }).join();
    EXPECT_EQ(control.all_calls, calls) << "the plugin never heard of it";
    EXPECT_TRUE(buffer->wait());
  }
  expect_clean(control);
}

TEST(Client, WhatAnotherThreadDestroysIsKeptForItsOwn) {
  auto& control = fresh_control();
  {
    const auto client = make_client();
    std::optional<Buffer> buffer = std::move(*client->upload(0, pair, two));
    std::optional<Executable> executable = std::move(*client->compile("copies=1"));
    std::thread([&] {
      buffer.reset();
      executable.reset();
    }).join();
    EXPECT_EQ(control.live.buffers, 1);
    EXPECT_EQ(control.live.loaded, 1);
    EXPECT_TRUE(client->memory(0));
    EXPECT_EQ(control.live.buffers, 0);
    EXPECT_EQ(control.live.loaded, 0);

    buffer = std::move(*client->upload(0, pair, two));
    std::thread([&] { buffer.reset(); }).join();
  }
  expect_clean(control);
}

TEST(Client, GoesAfterWhatItMade) {
  auto& control = fresh_control();
  {
    std::optional<Buffer> buffer;
    std::optional<Executable> executable;
    {
      const auto client = make_client();
      buffer = std::move(*client->upload(0, pair, two));
      executable = std::move(*client->compile("copies=1"));
    }
    EXPECT_EQ(control.live.clients, 1);
    EXPECT_TRUE(buffer->wait());
    *buffer = Buffer(std::move(*buffer));
    buffer.reset();
    EXPECT_EQ(control.live.clients, 1);
  }
  expect_clean(control);
}

}  // namespace
}  // namespace trainward::pjrt
