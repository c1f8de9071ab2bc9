#include "trainer/pjrt/compile_options.hpp"

#include <string_view>

namespace trainward::pjrt {
namespace {

// Protocol buffers: a field is a varint of (number << 3 | kind) and then a varint, or a varint of a
// length and as many bytes.
void put_varint(std::string& to, std::uint64_t value) {
  while (value >= 0x80) {
    to.push_back(static_cast<char>(value | 0x80));
    value >>= 7U;
  }
  to.push_back(static_cast<char>(value));
}

void put_number(std::string& to, unsigned field, std::int64_t value) {
  put_varint(to, field << 3U);
  put_varint(to, static_cast<std::uint64_t>(value));
}

void put_bytes(std::string& to, unsigned field, std::string_view bytes) {
  put_varint(to, field << 3U | 2U);
  put_varint(to, bytes.size());
  to += bytes;
}

// DeviceAssignmentProto: one computation, replica r on device r.
std::string device_assignment(std::int64_t replicas) {
  std::string devices;
  for (std::int64_t replica = 0; replica < replicas; ++replica) {
    put_varint(devices, static_cast<std::uint64_t>(replica));
  }
  std::string computation;
  put_bytes(computation, 1, devices);  // replica_device_ids
  std::string assignment;
  put_number(assignment, 1, replicas);  // replica_count
  put_number(assignment, 2, 1);         // computation_count
  put_bytes(assignment, 3, computation);
  return assignment;
}

}  // namespace

std::string compile_options(std::int64_t replicas) {
  std::string build;
  put_number(build, 1, -1);  // device_ordinal: not one chosen here
  put_number(build, 4, replicas);
  put_number(build, 5, 1);  // num_partitions
  // One replica without an assignment runs on the client's first device everywhere.
  if (replicas > 1) put_bytes(build, 9, device_assignment(replicas));
  std::string options;
  put_bytes(options, 3, build);  // executable_build_options
  return options;
}

}  // namespace trainward::pjrt
