// Strict YAML as a plain tree that knows where everything stood in the file.
//
// In: text from a stranger. Out: a tree of scalars, lists and maps with line and column, and the
// problems found on the way: duplicate keys, anchors, aliases, tags, tabs in the indentation, keys
// that are not plain text. After a syntax error the tree is empty and the error the last problem.
// Failure: as Problem values; yaml-cpp's exceptions end here. Size, depth and node count are
// bounded, and aliases are refused, so no small file can become a large tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::yaml {

struct Mark {
  int line = 0;    // from 1; 0 when the text did not come from a file
  int column = 0;  // from 1
  int source = 0;  // 0: the file itself; n: the n-th override of the command line

  friend bool operator==(const Mark&, const Mark&) = default;
};

struct Problem {
  Mark mark;
  std::string message;
};

struct Member;

struct Node {
  // `refused` stands where something was already reported: readers pass over it in silence.
  enum class Kind { null, scalar, list, map, refused };

  Kind kind = Kind::null;
  Mark mark;
  std::string text;     // of a scalar, as written
  bool quoted = false;  // "5" is text, 5 is a number
  bool secret = false;  // no message repeats what stands here; set by who knows what the file is
  std::vector<Node> items;
  std::vector<Member> members;

  [[nodiscard]] const Node* find(std::string_view key) const;
};

struct Member {
  std::string key;
  Mark mark;  // of the key
  Node value;
};

struct Limits {
  std::size_t max_bytes = 1024 * 1024;
  std::size_t max_depth = 16;
  std::size_t max_nodes = 50'000;
};

struct Document {
  Node root;
  std::vector<Problem> problems;
};

// `source` is copied into every Mark.
Document parse(std::string_view text, const Limits& limits = {}, int source = 0);

// "a list", "the number 5", "the text 'abc'": for messages. What is secret, and what looks like an
// address, which may hold a password, is not repeated.
std::string describe(const Node& node);
bool looks_like_number(std::string_view text);

// The same values as JSON, for parts of a file that are passed on unread: plain numbers, true,
// false and empty values keep their type; everything else is text.
json::value to_json_value(const Node& node);

}  // namespace trainward::yaml
