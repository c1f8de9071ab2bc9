// What a Hub answers, read strictly and within bounds. Pure.
//
// Members that are not known are ignored; one that is needed and missing, of another type or out of
// range makes the whole answer unreadable (kind corrupt, `where` is the endpoint's host). Names of
// files that would leave the repository are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::upload::hub {

// Who the token is.
struct Identity {
  std::string name;  // of the user or organization: where a repository without one belongs
  std::string role;  // "read", "write", "fineGrained"; empty: not said
  // Of a fine-grained token: whether any of its scopes has the right to write. True for others.
  bool has_write_scope = true;
};
Result<Identity> parse_identity(std::string_view text, std::string_view where);

struct Head {
  std::string commit;  // 40 hexadecimal digits
};
Result<Head> parse_revision(std::string_view text, std::string_view where);

// A file of a repository at one commit.
struct Entry {
  std::string path;
  std::int64_t size = 0;
  std::string blob;    // SHA-1 of git for its content, or for its LFS pointer
  std::string sha256;  // of an LFS object; empty: a regular file
  friend bool operator==(const Entry&, const Entry&) = default;
};
// Folders are left out.
Result<std::vector<Entry>> parse_tree(std::string_view text, std::string_view where);
// The address of the next page, from the header `Link`; empty: this was the last.
std::string next_page(std::string_view link_header);

// By path, whether a file has to go up as an LFS object. What was not asked for is left out.
using Modes = std::map<std::string, bool>;
Result<Modes> parse_preupload(std::string_view text, std::string_view where);

// Where the bytes of one object go.
struct Transfer {
  struct Header {
    std::string name;
    std::string value;
    friend bool operator==(const Header&, const Header&) = default;
  };
  std::string oid;                 // SHA-256
  bool stored = false;             // nothing is to be sent
  std::string refusal;             // why the server will not take it; empty: it does
  std::string upload;              // PUT of all bytes; or POST when all parts are there
  std::vector<Header> headers;     // that the upload wants
  std::int64_t part_size = 0;      // 0: in one piece
  std::vector<std::string> parts;  // PUT of each, in order
  std::string verify;              // empty: nobody wants to be told
  std::vector<Header> verify_headers;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};
// Of the objects that were asked for: `sizes` by SHA-256. Each has its answer, or the whole is
// unreadable; parts are as many as the size needs.
Result<std::vector<Transfer>> parse_batch(std::string_view text, std::string_view where,
                                          const std::map<std::string, std::int64_t>& sizes);

Result<Head> parse_commit(std::string_view text, std::string_view where);

struct Tag {
  std::string name;
  std::string commit;
};
Result<std::vector<Tag>> parse_tags(std::string_view text, std::string_view where);

// Digits 0-9a-f, so many.
bool is_hex(std::string_view text, std::size_t digits);

}  // namespace trainward::upload::hub
