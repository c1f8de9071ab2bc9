#include "supervisor/courier/upload/hub/hub_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/base/text.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::int64_t largest_file = std::int64_t{1} << 50;
constexpr std::int64_t most_parts = 10'000;
constexpr std::size_t longest_address = 16 * 1024;

// Often it is somebody else who has answered, a hotel's page or a proxy's, and not for long.
tl::unexpected<Error> unreadable(std::string_view where, std::string_view what) {
  return fail(ErrorKind::transient, fmt::format("its answer was not understood: {}", what),
              std::string(where),
              "if it stays so: is it a Hugging Face Hub, and is no proxy in between?");
}

// Its object, kept alive by `value`.
Result<const json::object*> object_of(const Result<json::value>& value, std::string_view where) {
  if (!value) return unreadable(where, "it is no JSON");
  const auto* object = value->if_object();
  if (object == nullptr) return unreadable(where, "it is no object");
  return object;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

bool is_header_value(std::string_view value) {
  return value.size() <= longest_address && std::all_of(value.begin(), value.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
         });
}

// Those that an upload may set: not who asks, nor what the client itself says of the body.
bool may_be_set(std::string_view name) {
  static constexpr std::string_view ours[] = {"authorization",
                                              "cookie",
                                              "host",
                                              "content-length",
                                              "expect",
                                              "connection",
                                              "transfer-encoding",
                                              "proxy-authorization"};
  const std::string lower = lower_case(name);
  return std::find(std::begin(ours), std::end(ours), lower) == std::end(ours);
}

// "00001" is 1; 0: no number.
std::int64_t part_number(std::string_view text) {
  const std::int64_t number = number_in<std::int64_t>(text).value_or(0);
  return number > 0 && number <= most_parts ? number : 0;
}

struct Action {
  std::string href;
  std::vector<Transfer::Header> headers;
  std::int64_t part_size = 0;
  std::map<std::int64_t, std::string> parts;
};

Result<Action> parse_action(const json::object& action, std::string_view where) {
  Action out;
  auto href = get_string(action, "href");
  if (!href || href->size() > longest_address) return unreadable(where, "an upload goes nowhere");
  out.href = std::move(*href);
  const json::value* header = action.if_contains("header");
  if (header == nullptr || header->is_null()) return out;
  if (!header->is_object()) return unreadable(where, "headers that are not an object");
  for (const auto& [name, value] : header->get_object()) {
    if (!value.is_string()) return unreadable(where, "a header that is not text");
    const std::string_view text = view(value.get_string());
    if (!is_header_name(view(name)) || !is_header_value(text)) {
      return unreadable(where, "a header with an invalid name or value");
    }
    if (name == "chunk_size") {
      out.part_size = number_in<std::int64_t>(text).value_or(0);
      if (out.part_size <= 0) {
        return unreadable(where, "the size of a part is no number");
      }
    } else if (const std::int64_t number = part_number(view(name)); number > 0) {
      out.parts[number] = std::string(text);
    } else if (may_be_set(view(name))) {
      out.headers.push_back({std::string(view(name)), std::string(text)});
    }
  }
  return out;
}

// Numbered from 1 without a gap, as many as the size needs.
Status take_parts(Transfer& out, Action& target, std::int64_t size, std::string_view where) {
  const std::int64_t needed = size / target.part_size + (size % target.part_size != 0 ? 1 : 0);
  if (static_cast<std::int64_t>(target.parts.size()) != needed || needed == 0 ||
      target.parts.rbegin()->first != needed) {
    return unreadable(
        where, fmt::format("{} addresses for a file of {} parts", target.parts.size(), needed));
  }
  out.part_size = target.part_size;
  for (auto& [number, url] : target.parts) out.parts.push_back(std::move(url));
  return {};
}

Result<Transfer> parse_transfer(const json::value& value, std::string_view where,
                                const std::map<std::string, std::int64_t>& sizes) {
  const auto* object = value.if_object();
  if (object == nullptr) return unreadable(where, "an entry of 'objects' is not a JSON object");
  Transfer out;
  out.oid = string_or(*object, "oid", "");
  const auto known = sizes.find(out.oid);
  if (known == sizes.end()) return unreadable(where, "an object that nobody asked for");
  if (const json::value* error = object->if_contains("error");
      error != nullptr && error->is_object()) {
    const json::object& about = error->get_object();
    out.refusal = fmt::format("{} {}", int_or(about, "code", 0),
                              clean(string_or(about, "message", "")).substr(0, 200));
    return out;
  }
  const json::value* actions = object->if_contains("actions");
  const auto* doing = actions == nullptr ? nullptr : actions->if_object();
  const json::value* upload = doing == nullptr ? nullptr : doing->if_contains("upload");
  if (upload == nullptr || !upload->is_object()) {
    out.stored = true;
    return out;
  }
  auto target = parse_action(upload->get_object(), where);
  if (!target) return propagate(target);
  out.upload = std::move(target->href);
  if (target->part_size > 0) {
    if (auto ok = take_parts(out, *target, known->second, where); !ok) return propagate(ok);
  }
  out.headers = std::move(target->headers);
  if (const json::value* verify = doing->if_contains("verify");
      verify != nullptr && verify->is_object()) {
    auto told = parse_action(verify->get_object(), where);
    if (!told) return propagate(told);
    out.verify = std::move(told->href);
    out.verify_headers = std::move(told->headers);
  }
  return out;
}

Result<Entry> parse_entry(const json::object& object, std::string_view where) {
  Entry out;
  out.path = string_or(object, "path", "");
  out.size = int_or(object, "size", -1);
  out.blob = string_or(object, "oid", "");
  if (!is_safe_name(out.path)) return unreadable(where, "a file's name leaves the repository");
  if (out.size < 0 || out.size > largest_file) return unreadable(where, "a file without a size");
  if (const json::value* lfs = object.if_contains("lfs"); lfs != nullptr && lfs->is_object()) {
    out.sha256 = string_or(lfs->get_object(), "oid", "");
    out.size = int_or(lfs->get_object(), "size", out.size);
    // Some answers have the kind of digest before it.
    if (out.sha256.starts_with("sha256:")) out.sha256.erase(0, 7);
    if (!is_hex(out.sha256, 64) || out.size < 0 || out.size > largest_file) {
      return unreadable(where, "a file without a digest");
    }
  }
  return out;
}

// Whether a scope of a fine-grained token lets it write into repositories.
bool has_write_scope(const json::object& fine_grained) {
  const auto lets_write = [](const json::value* permissions) {
    const auto* list = permissions == nullptr ? nullptr : permissions->if_array();
    return list != nullptr && std::any_of(list->begin(), list->end(), [](const json::value& one) {
             return one.is_string() && view(one.get_string()) == "repo.write";
           });
  };
  if (lets_write(fine_grained.if_contains("global"))) return true;
  const json::value* scoped = fine_grained.if_contains("scoped");
  const auto* list = scoped == nullptr ? nullptr : scoped->if_array();
  return list != nullptr && std::any_of(list->begin(), list->end(), [&](const json::value& one) {
           const auto* scope = one.if_object();
           return scope != nullptr && lets_write(scope->if_contains("permissions"));
         });
}

}  // namespace

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<Identity> parse_identity(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  Identity out;
  out.name = string_or(**object, "name", "");
  if (out.name.empty() || out.name.size() > 96 || out.name.find('/') != std::string::npos) {
    return unreadable(where, "the token is nobody's");
  }
  const json::value* auth = (*object)->if_contains("auth");
  const auto* about = auth == nullptr ? nullptr : auth->if_object();
  const json::value* token = about == nullptr ? nullptr : about->if_contains("accessToken");
  const auto* access = token == nullptr ? nullptr : token->if_object();
  if (access == nullptr) return out;
  out.role = string_or(*access, "role", "");
  if (const json::value* fine = access->if_contains("fineGrained");
      out.role == "fineGrained" && fine != nullptr && fine->is_object()) {
    out.has_write_scope = has_write_scope(fine->get_object());
  }
  return out;
}

Result<Head> parse_revision(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  Head out{string_or(**object, "sha", "")};
  if (!is_hex(out.commit, 40)) return unreadable(where, "a branch without a commit");
  return out;
}

Result<std::vector<Entry>> parse_tree(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  const auto* array = value ? value->if_array() : nullptr;
  if (array == nullptr) return unreadable(where, "it is no list of files");
  std::vector<Entry> out;
  for (const json::value& item : *array) {
    const auto* object = item.if_object();
    if (object == nullptr) return unreadable(where, "an entry of the list is not a JSON object");
    if (string_or(*object, "type", "") != "file") continue;
    auto entry = parse_entry(*object, where);
    if (!entry) return propagate(entry);
    out.push_back(std::move(*entry));
  }
  return out;
}

std::string next_page(std::string_view link_header) {
  while (!link_header.empty()) {
    const auto open = link_header.find('<');
    const auto close = link_header.find('>', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return {};
    const auto end = std::min(link_header.find(',', close), link_header.size());
    const std::string_view about = link_header.substr(close + 1, end - close - 1);
    if (about.find("rel=\"next\"") != std::string_view::npos) {
      return std::string(link_header.substr(open + 1, close - open - 1));
    }
    link_header.remove_prefix(end);
  }
  return {};
}

Result<Modes> parse_preupload(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  auto files = get_array(**object, "files");
  if (!files) return unreadable(where, "it names no files");
  Modes out;
  for (const json::value& item : **files) {
    const auto* file = item.if_object();
    if (file == nullptr) return unreadable(where, "an entry of 'files' is not a JSON object");
    const std::string mode = string_or(*file, "uploadMode", "");
    if (mode != "lfs" && mode != "regular") {
      return unreadable(where, "a way to upload that is not known");
    }
    out[string_or(*file, "path", "")] = mode == "lfs";
  }
  return out;
}

Result<std::vector<Transfer>> parse_batch(std::string_view text, std::string_view where,
                                          const std::map<std::string, std::int64_t>& sizes) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  auto objects = get_array(**object, "objects");
  if (!objects) return unreadable(where, "it names no objects");
  std::vector<Transfer> out;
  std::set<std::string> seen;
  for (const json::value& item : **objects) {
    auto transfer = parse_transfer(item, where, sizes);
    if (!transfer) return propagate(transfer);
    if (!seen.insert(transfer->oid).second)
      return unreadable(where, "an object stands there twice");
    out.push_back(std::move(*transfer));
  }
  if (out.size() != sizes.size()) return unreadable(where, "it leaves objects out");
  return out;
}

Result<Head> parse_commit(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  Head out{string_or(**object, "commitOid", "")};
  if (!is_hex(out.commit, 40)) return unreadable(where, "a commit without a name");
  return out;
}

Result<std::vector<Tag>> parse_tags(std::string_view text, std::string_view where) {
  const auto value = parse_json(text, where);
  auto object = object_of(value, where);
  if (!object) return propagate(object);
  std::vector<Tag> out;
  const json::value* tags = (*object)->if_contains("tags");
  if (tags == nullptr || tags->is_null()) return out;
  const auto* list = tags->if_array();
  if (list == nullptr) return unreadable(where, "'tags' is not a list");
  for (const json::value& item : *list) {
    const auto* tag = item.if_object();
    if (tag == nullptr) return unreadable(where, "an entry of 'tags' is not a JSON object");
    Tag one{string_or(*tag, "name", ""), string_or(*tag, "targetCommit", "")};
    if (one.name.empty() || !is_hex(one.commit, 40)) {
      return unreadable(where, "a tag without a commit");
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace trainward::upload::hub
