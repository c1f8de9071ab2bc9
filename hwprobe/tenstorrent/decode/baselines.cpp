#include "hwprobe/tenstorrent/decode/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/os/file.hpp"
#include "common/os/json_file.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::size_t most_links = 4096;
constexpr std::size_t longest_chip = 100;
constexpr unsigned channels = 16;

// The growth of one counter; `first` becomes what it is to be compared with from now on.
std::int64_t grow(std::optional<std::uint64_t>& first, std::optional<std::uint64_t> now,
                  bool& changed) {
  if (!now) return 0;
  if (!first || *now < *first) {
    first = now;
    changed = true;
    return 0;
  }
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(*now - *first, most));
}

json::object counters_json(const LinkCounters& counters) {
  json::object out;
  const auto put = [&](const char* key, std::optional<std::uint64_t> value) {
    if (value) out[key] = *value;
  };
  put("retrains", counters.retrains);
  put("crc_errors", counters.crc_errors);
  put("uncorrected", counters.uncorrected);
  return out;
}

std::optional<std::uint64_t> counter(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !(value->is_int64() || value->is_uint64())) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

}  // namespace

LinkGrowth Baselines::growth(const std::string& chip, unsigned channel, const LinkCounters& now) {
  LinkCounters& first = first_[{chip, channel}];
  return {grow(first.retrains, now.retrains, changed_),
          grow(first.crc_errors, now.crc_errors, changed_),
          grow(first.uncorrected, now.uncorrected, changed_)};
}

Baselines Baselines::load(const std::filesystem::path& file, std::string boot_id) {
  Baselines baselines(std::move(boot_id));
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return baselines;
  baselines.take(read_json_file(file, max_file_bytes), file.string());
  return baselines;
}

Baselines Baselines::from_text(std::string_view text, std::string boot_id) {
  constexpr const char* where = "counters of links";
  Baselines baselines(std::move(boot_id));
  if (!text.empty()) baselines.take(parse_json(text, where), where);
  return baselines;
}

void Baselines::take(const Result<json::value>& value, const std::string& where) {
  auto read = this->read(value, where);
  if (read) return;
  first_.clear();
  changed_ = true;
  note_ = fmt::format("{}: {}", where, read.error().what);
}

Status Baselines::read(const Result<json::value>& value, const std::string& where) {
  if (!value) return tl::unexpected<Error>(value.error());
  if (!value->is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
  auto boot = get_string(value->get_object(), "boot_id");
  if (!boot) return propagate(boot);
  if (*boot != boot_id_) return {};
  auto links = get_array(value->get_object(), "links");
  if (!links) return propagate(links);
  if ((*links)->size() > most_links) {
    return fail(ErrorKind::corrupt, fmt::format("has more than {} links", most_links), where);
  }
  for (const json::value& item : **links) {
    if (!item.is_object()) return fail(ErrorKind::corrupt, "a link is not an object", where);
    auto chip = get_string(item.get_object(), "chip");
    if (!chip) return propagate(chip);
    auto channel = get_int(item.get_object(), "channel");
    if (!channel) return propagate(channel);
    if (chip->size() > longest_chip || *channel < 0 || *channel >= channels) {
      return fail(ErrorKind::corrupt, "a link that no board has", where);
    }
    first_[{std::move(*chip), static_cast<unsigned>(*channel)}] = {
        counter(item.get_object(), "retrains"), counter(item.get_object(), "crc_errors"),
        counter(item.get_object(), "uncorrected")};
  }
  return {};
}

Status Baselines::save(const std::filesystem::path& file) const {
  json::array links;
  for (const auto& [link, counters] : first_) {
    json::object item = counters_json(counters);
    item["chip"] = link.first;
    item["channel"] = link.second;
    links.push_back(std::move(item));
  }
  const json::object all{{"boot_id", boot_id_}, {"links", std::move(links)}};
  return write_file_durably(file, json::serialize(all) + "\n");
}

}  // namespace trainward::hwprobe
