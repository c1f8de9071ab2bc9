// What tests of the simulated N300's plugin share: the plugin under a script of faults, programs as
// text, and buffers of whole numbers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/graph/builder.hpp"
#include "trainer/pjrt/pjrt_client.hpp"
#include "trainer/pjrt/plugin.hpp"

namespace trainward::n300::test {

using Floats = std::vector<float>;

// The environment of the plugin for as long as this lives; what is not given is not set.
class World {
 public:
  explicit World(const std::string& script, std::int64_t attempt = 0,
                 const std::string& kernels = {}, const std::string& timeout_s = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
};

std::unique_ptr<pjrt::Client> make_client(std::int64_t threads = 2);
const pjrt::abi::Api& plugin_api();

// The text of a program whose body is built by `make`, which returns the outputs.
std::string program(const std::string& name,
                    const std::function<std::vector<graph::Value>(graph::Builder&)>& make,
                    std::int64_t replicas = 1);
// name: one parameter of `elements` f32, which it returns plus one.
std::string plus_one(const std::string& name, std::int64_t elements = 1024);

pjrt::Buffer upload(pjrt::Client& client, const Floats& values, std::size_t device = 0);
Floats download(const pjrt::Buffer& buffer);

// Runs on device 0 with one argument.
pjrt::Outcome<std::vector<std::vector<pjrt::Buffer>>> run(const pjrt::Executable& executable,
                                                          const pjrt::Buffer& argument);
// What is written to stderr while `act` runs.
std::string printed_by(const std::function<void()>& act);

}  // namespace trainward::n300::test
