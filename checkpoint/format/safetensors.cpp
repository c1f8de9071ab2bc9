#include "checkpoint/format/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "checkpoint/format/strict_json.hpp"

namespace trainward::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes and the length field are little-endian and are not converted");

constexpr std::string_view restore_hint = "restore the file from another copy";

tl::unexpected<Error> bad(std::string_view where, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), std::string(where), std::string(restore_hint));
}

// A name that is shown in terminals and logs and used as a key by every other reader.
bool is_tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= 4096 && std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
}

// A JSON number written without sign, fraction or exponent.
std::optional<std::uint64_t> whole(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) {
    return static_cast<std::uint64_t>(value.get_int64());
  }
  return std::nullopt;
}

Status read_metadata(const json::value& value, Header& header, std::string_view where) {
  if (value.is_null()) return {};  // null means absent, as in the format's own reader
  if (!value.is_object()) return bad(where, "'__metadata__' in the header is not an object");
  for (const auto& entry : value.get_object()) {
    if (!entry.value().is_string()) {
      return bad(where, fmt::format("'__metadata__' key '{}' is not text", view(entry.key())));
    }
    header.metadata.emplace(view(entry.key()), view(entry.value().get_string()));
  }
  return {};
}

Result<TensorInfo> read_info(std::string name, const json::object& entry, std::string_view where) {
  TensorInfo info;
  info.name = std::move(name);
  auto dtype = get_string(entry, "dtype");
  if (!dtype) return bad(where, fmt::format("tensor '{}': {}", info.name, dtype.error().what));
  const auto known = dtype_from(*dtype);
  if (!known) {
    return bad(where, fmt::format("tensor '{}': element type '{}' is not supported", info.name,
                                  dtype->substr(0, 32)));
  }
  info.dtype = *known;
  auto shape = get_array(entry, "shape");
  if (!shape) return bad(where, fmt::format("tensor '{}': {}", info.name, shape.error().what));
  for (const json::value& item : **shape) {
    const auto extent = whole(item);
    if (!extent || *extent > std::numeric_limits<std::int64_t>::max()) {
      return bad(where, fmt::format("tensor '{}': a dimension is not a whole number below 2^63",
                                    info.name));
    }
    info.shape.push_back(static_cast<std::int64_t>(*extent));
  }
  return info;
}

Result<Slot> read_slot(std::string name, const json::value& value, std::string_view where) {
  if (!is_tensor_name(name)) {
    return bad(where, "a tensor's name is empty, too long or has control characters");
  }
  if (!value.is_object()) return bad(where, fmt::format("tensor '{}' is not an object", name));
  auto info = read_info(std::move(name), value.get_object(), where);
  if (!info) return propagate(info);
  Slot slot;
  slot.info = std::move(*info);
  const json::value* offsets = value.get_object().if_contains("data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->get_array().size() != 2) {
    return bad(where, fmt::format("tensor '{}': 'data_offsets' is not a pair", slot.info.name));
  }
  const auto begin = whole(offsets->get_array()[0]);
  const auto end = whole(offsets->get_array()[1]);
  if (!begin || !end || *begin > *end) {
    return bad(where, fmt::format("tensor '{}': 'data_offsets' is not a range of whole numbers",
                                  slot.info.name));
  }
  slot.begin = *begin;
  slot.end = *end;
  const auto bytes = byte_count(slot.info);
  if (!bytes || *bytes != slot.end - slot.begin) {
    return bad(where,
               fmt::format("tensor '{}': shape and type need {} bytes, 'data_offsets' spans {}",
                           slot.info.name, bytes ? fmt::to_string(*bytes) : "more than 2^61",
                           slot.end - slot.begin));
  }
  return slot;
}

// Sorted by position, each tensor must begin where the one before it ended, and the last end at the
// end of the file: then no byte belongs to two tensors or to none.
Status check_cover(std::vector<Slot>& slots, std::uint64_t data_bytes, std::string_view where) {
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    return std::tie(a.begin, a.end, a.info.name) < std::tie(b.begin, b.end, b.info.name);
  });
  std::uint64_t expected = 0;
  for (const Slot& slot : slots) {
    if (slot.begin != expected) {
      return bad(where, fmt::format("tensor '{}' begins at data byte {}, but {} ends at {}: {}",
                                    slot.info.name, slot.begin,
                                    &slot == slots.data() ? "the header" : "the one before it",
                                    expected, slot.begin < expected ? "they overlap" : "a hole"));
    }
    expected = slot.end;
  }
  if (expected == data_bytes) return {};
  return bad(where, expected < data_bytes
                        ? fmt::format("has {} bytes behind the last tensor", data_bytes - expected)
                        : fmt::format("is cut short: the tensors need {} data bytes, it has {}",
                                      expected, data_bytes));
}

}  // namespace

Result<Header> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                        std::string_view where, std::size_t most_entries) {
  if (text.size() > max_header_bytes) {
    return bad(where, fmt::format("declares a header of {} bytes, more than the {} allowed",
                                  text.size(), max_header_bytes));
  }
  if (!text.starts_with('{')) return bad(where, "does not begin its header with '{'");
  auto parsed = parse_strict_json(text, where, most_entries);
  if (!parsed) return bad(where, "header " + parsed.error().what);
  Header header;
  for (const auto& entry : parsed->get_object()) {
    if (entry.key() == "__metadata__") {
      if (auto ok = read_metadata(entry.value(), header, where); !ok) return propagate(ok);
      continue;
    }
    auto slot = read_slot(std::string(view(entry.key())), entry.value(), where);
    if (!slot) return propagate(slot);
    header.slots.push_back(std::move(*slot));
  }
  if (auto ok = check_cover(header.slots, data_bytes, where); !ok) return propagate(ok);
  return header;
}

Result<Header> read_safetensors_header(const ReadAt& read, std::uint64_t file_bytes,
                                       std::string_view where, std::size_t most_entries) {
  std::uint64_t length = 0;
  if (file_bytes < sizeof length) {
    return bad(where, fmt::format("is {} bytes, too short for a safetensors file", file_bytes));
  }
  std::array<char, sizeof length> raw{};
  if (auto ok = read(raw.data(), raw.size(), 0); !ok) return propagate(ok);
  std::memcpy(&length, raw.data(), raw.size());
  if (length > max_header_bytes) {
    return bad(where, fmt::format("declares a header of {} bytes, more than the {} allowed", length,
                                  max_header_bytes));
  }
  if (length > file_bytes - raw.size()) {
    return bad(where, fmt::format("declares a header of {} bytes, but has only {} behind byte 8",
                                  length, file_bytes - raw.size()));
  }
  std::string text(length, '\0');
  if (auto ok = read(text.data(), text.size(), raw.size()); !ok) return propagate(ok);
  const std::uint64_t data_offset = raw.size() + length;
  auto header = parse_safetensors_header(text, file_bytes - data_offset, where, most_entries);
  if (header) header->data_offset = data_offset;
  return header;
}

Result<Header> read_safetensors_header(std::span<const std::byte> file, std::string_view where) {
  return read_safetensors_header(
      [&](char* to, std::size_t size, std::uint64_t at) -> Status {
        std::memcpy(to, file.data() + at, size);
        return {};
      },
      file.size(), where);
}

}  // namespace trainward::checkpoint
