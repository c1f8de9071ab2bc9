// Answers of a Hugging Face Hub: whatever comes, what is taken from it leads to no file outside of
// the repository, to no header that is two, and to no place that is not an address.
#include <algorithm>
#include <map>
#include <string>

#include "common/base/utf8.hpp"
#include "require.hpp"
#include "supervisor/courier/upload/hub/attributes.hpp"
#include "supervisor/courier/upload/hub/card.hpp"
#include "supervisor/courier/upload/hub/hub_address.hpp"
#include "supervisor/courier/upload/hub/hub_answers.hpp"
#include "supervisor/courier/upload/hub/hub_layout.hpp"
#include "supervisor/courier/upload/hub/hub_refusal.hpp"
#include "supervisor/courier/upload/hub/hub_requests.hpp"
#include "supervisor/courier/upload/hub/sealed.hpp"

namespace {

using namespace trainward;
using namespace trainward::upload::hub;

constexpr const char* usual = "https://huggingface.co";

void check_name(const std::string& name) {
  fuzz::require(!name.empty() && name.front() != '/' && name.back() != '/', "a name of a file");
  fuzz::require(("/" + name + "/").find("/../") == std::string::npos, "no way up");
}

void check_headers(const std::vector<Transfer::Header>& headers) {
  for (const auto& header : headers) {
    fuzz::require((header.name + header.value).find_first_of("\r\n") == std::string::npos,
                  "one header");
    std::string name = header.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(c | 0x20); });
    fuzz::require(name != "authorization", "who asks is ours to say");
  }
}

void read_objects(std::string_view text) {
  const std::string oid(64, 'a');
  const std::map<std::string, std::int64_t> sizes{{oid, 25}, {std::string(64, 'b'), 1}};
  const auto transfers = parse_batch(text, "h", sizes);
  if (!transfers) return;
  fuzz::require(transfers->size() == sizes.size(), "an answer for each");
  for (const Transfer& transfer : *transfers) {
    const std::int64_t size = sizes.at(transfer.oid);
    check_headers(transfer.headers);
    check_headers(transfer.verify_headers);
    if (transfer.part_size == 0) continue;
    const auto parts = static_cast<std::int64_t>(transfer.parts.size());
    fuzz::require((parts - 1) * transfer.part_size < size && parts * transfer.part_size >= size,
                  "parts cover the file");
  }
}

void read_all(std::string_view text) {
  if (const auto tree = parse_tree(text, "h")) {
    for (const Entry& entry : *tree) {
      check_name(entry.path);
      fuzz::require(entry.size >= 0, "a size");
      fuzz::require(entry.sha256.empty() || is_hex(entry.sha256, 64), "a digest");
    }
  }
  if (const auto record = parse_record(text, "h")) {
    for (const auto& file : record->remote.files) check_name(file_path(*record, file.name));
    const auto again = parse_record(record_text(*record), "h");
    fuzz::require(again && record_text(*again) == record_text(*record), "a record comes back");
  }
  if (const auto head = parse_commit(text, "h")) {
    fuzz::require(is_hex(head->commit, 40), "a commit");
  }
  if (const auto head = parse_revision(text, "h")) {
    fuzz::require(is_hex(head->commit, 40), "a commit");
  }
  static_cast<void>(parse_identity(text, "h"));
  static_cast<void>(parse_preupload(text, "h"));
  static_cast<void>(parse_tags(text, "h"));
  read_objects(text);
}

void read_words(const std::string& text) {
  const std::string words = safe_words(text);
  fuzz::require(is_utf8(words) && words.size() <= 210, "words for a person");
  fuzz::require(words.find('\n') == std::string::npos, "one line");
  net::Answer answer{.status = 429, .headers = {{"x-error-message", text}}, .body = text};
  const auto refusal = refusal_of(answer, "do it", "hub:me/run", 0);
  fuzz::require(!refusal.wait_ms || *refusal.wait_ms >= 0, "no time in the past");
  const auto url = followed(text, usual);
  fuzz::require(!url || url->starts_with("https://"), "encrypted");
  if (url && same_origin(*url, usual)) {
    const std::string rest = url->substr(std::min(url->size(), std::string(usual).size()));
    fuzz::require(rest.empty() || std::string(":/?#").find(rest.front()) != std::string::npos,
                  "the token goes to the Hub alone");
  }
  static_cast<void>(good_until_ms(text));
  static_cast<void>(next_page(text));
  const std::string tag = tag_name(text);
  fuzz::require(tag.empty() == text.empty() && tag.find("..") == std::string::npos, "a tag");
  fuzz::require(!unseal(text, "hf_x"), "nobody seals without the token");
  const std::string lines = missing_lines(text, {"a/b.distcp"}, {});
  fuzz::require(missing_lines(text + lines, {"a/b.distcp"}, {}).empty(), "a line is added once");
  if (const auto card = merged_card(text, "# run\n")) {
    fuzz::require(!merged_card(*card, "# run\n"), "a card is merged once");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  read_all(text);
  read_words(text);
  return 0;
}
