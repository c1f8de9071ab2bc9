#include "trainer/n300_sim/fault_script.hpp"

#include <limits>
#include <string>

#include "common/base/json/strict_object.hpp"
#include "common/base/number_in.hpp"

namespace trainward::n300 {
namespace {

constexpr std::int64_t any_count = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t longest_ms = 3'600'000;  // an hour for one operation
constexpr std::int64_t bits_of_a_chip = (std::int64_t{12} << 30) * 8;

// An object of two keys, the attempt and one other number.
Status read_pair(StrictObject& outer, std::string_view key, const std::string& where,
                 std::string_view second, std::int64_t low, std::int64_t high,
                 std::optional<std::pair<std::int64_t, std::int64_t>>& read) {
  const json::object* object = outer.object(key);
  if (object == nullptr) return {};
  std::pair<std::int64_t, std::int64_t> pair{0, low};
  StrictObject keys(*object, where + "." + std::string(key));
  keys.whole("attempt", pair.first, {1, any_count});
  keys.whole(second, pair.second, {low, high});
  if (!keys.has("attempt")) keys.complain("attempt", "is missing", "which attempt it is to strike");
  if (auto ok = keys.finish(); !ok) return ok;
  read = pair;
  return {};
}

Status read_moment(StrictObject& outer, std::string_view key, const std::string& where,
                   std::optional<Moment>& moment) {
  std::optional<std::pair<std::int64_t, std::int64_t>> pair;
  if (auto ok = read_pair(outer, key, where, "after_steps", 0, any_count, pair); !ok) return ok;
  if (pair) moment = Moment{pair->first, pair->second};
  return {};
}

Status read_attempt(StrictObject& outer, std::string_view key, const std::string& where,
                    std::optional<std::int64_t>& attempt) {
  const json::object* object = outer.object(key);
  if (object == nullptr) return {};
  std::int64_t number = 0;
  StrictObject keys(*object, where + "." + std::string(key));
  keys.whole("attempt", number, {1, any_count});
  if (!keys.has("attempt")) keys.complain("attempt", "is missing", "which attempt it is to strike");
  if (auto ok = keys.finish(); !ok) return ok;
  attempt = number;
  return {};
}

// A board has chips L and R, and where no plan names them and there are more, 0, 1, 2, …
void read_chip(StrictObject& keys, std::int64_t chips, std::string& chip) {
  keys.text("chip", chip);
  if (!keys.has("chip")) return keys.complain("chip", "is missing", "L, R, or a number");
  const auto number = number_in<std::int64_t>(chip);
  const bool by_number =
      chips > 2 && number && *number >= 0 && *number < chips && std::to_string(*number) == chip;
  if (chip == "L" || (chip == "R" && chips > 1) || by_number) return;
  keys.complain("chip", fmt::format("is {}, and the board has no such chip", chip),
                chips > 1 ? "L, R, or with `chips` above 2 a number from 0" : "its only chip is L");
}

Status read_slow_chip(StrictObject& outer, const std::string& where, std::int64_t chips,
                      std::optional<SlowChip>& slow) {
  const json::object* object = outer.object("slow_chip");
  if (object == nullptr) return {};
  SlowChip read;
  StrictObject keys(*object, where + ".slow_chip");
  read_chip(keys, chips, read.chip);
  keys.real("factor", read.factor, {.min = 1, .max = 1000});
  if (auto ok = keys.finish(); !ok) return ok;
  slow = read;
  return {};
}

Status read_link(StrictObject& outer, const std::string& where, std::optional<Link>& link) {
  const json::object* object = outer.object("link");
  if (object == nullptr) return {};
  Link read;
  StrictObject keys(*object, where + ".link");
  keys.real("gb_per_s", read.gb_per_s, {.min = 1e-6, .max = 1e6});
  keys.real("latency_us", read.latency_us, {.min = 0, .max = 1e6});
  if (!keys.has("gb_per_s")) keys.complain("gb_per_s", "is missing", "GB a second, such as 7.4");
  if (auto ok = keys.finish(); !ok) return ok;
  link = read;
  return {};
}

Status read_flip(StrictObject& outer, const std::string& where, std::int64_t chips,
                 std::optional<Flip>& flip) {
  const json::object* object = outer.object("flip");
  if (object == nullptr) return {};
  Flip read;
  StrictObject keys(*object, where + ".flip");
  keys.whole("attempt", read.moment.attempt, {1, any_count});
  keys.whole("after_steps", read.moment.after_steps, {0, any_count});
  read_chip(keys, chips, read.chip);
  keys.whole("bit", read.bit, {0, bits_of_a_chip - 1});
  if (!keys.has("attempt")) keys.complain("attempt", "is missing", "which attempt it is to strike");
  if (auto ok = keys.finish(); !ok) return ok;
  flip = read;
  return {};
}

void read_oom(StrictObject& keys, OutOfMemory& oom) {
  std::string name = "error_13";
  keys.text("oom", name);
  if (name == "resource_exhausted") {
    oom = OutOfMemory::resource_exhausted;
  } else if (name != "error_13") {
    keys.complain("oom", fmt::format("{} is not a way to run out of memory", name),
                  "error_13 or resource_exhausted");
  }
}

}  // namespace

Result<FaultScript> read_fault_script(const json::object& from, std::string_view where) {
  FaultScript script;
  const std::string name(where);
  StrictObject keys(from, name);
  keys.whole("chips", script.chips, {1, 1024});
  keys.bytes("dram_bytes", script.dram_bytes);
  keys.bytes("base_bytes", script.base_bytes);
  keys.bytes("leak_bytes_per_step", script.leak_bytes_per_step);
  read_oom(keys, script.oom);
  keys.whole("compile_ms_per_op", script.compile_ms_per_op, {0, longest_ms});
  keys.flag("dead_second_chip", script.dead_second_chip);
  keys.flag("loads_executables", script.loads_executables);
  keys.flag("compiles_without_device", script.compiles_without_device);
  if (auto ok = read_moment(keys, "hang", name, script.hang); !ok) return propagate(ok);
  if (auto ok = read_moment(keys, "abort", name, script.abort); !ok) return propagate(ok);
  if (auto ok = read_moment(keys, "ethernet_loss", name, script.ethernet_loss); !ok) {
    return propagate(ok);
  }
  if (auto ok = read_slow_chip(keys, name, script.chips, script.slow_chip); !ok)
    return propagate(ok);
  if (auto ok = read_link(keys, name, script.link); !ok) return propagate(ok);
  if (auto ok = read_flip(keys, name, script.chips, script.flip); !ok) return propagate(ok);
  std::optional<std::pair<std::int64_t, std::int64_t>> slow;
  if (auto ok = read_pair(keys, "slow_compile", name, "ms_per_op", 0, longest_ms, slow); !ok) {
    return propagate(ok);
  }
  if (slow) script.slow_compile = SlowCompile{slow->first, slow->second};
  if (auto ok = read_attempt(keys, "corrupt_kernel_cache", name, script.corrupt_kernel_cache);
      !ok) {
    return propagate(ok);
  }
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  return script;
}

}  // namespace trainward::n300
