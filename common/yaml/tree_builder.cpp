#include "common/yaml/tree_builder.hpp"

#include <fmt/format.h>

#include <utility>

namespace trainward::yaml {

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ == 2) problem(place(mark), "a second document ('---') is not read");
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
  Node node;
  node.mark = place(mark);
  add(std::move(node));
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
  Node node;
  node.kind = Node::Kind::refused;
  node.mark = place(mark);
  problem(node.mark, "aliases (*name) are not supported; write the value out");
  add(std::move(node));
}

void TreeBuilder::OnAnchor(const YAML::Mark& mark, const std::string& name) {
  problem(place(mark), fmt::format("anchors (&{}) are not supported; write the value out", name));
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag,
                           YAML::anchor_t /*anchor*/, const std::string& value) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.mark = place(mark);
  node.text = value;
  node.quoted = tag == "!";
  if (node.quoted) last_quoted_ = node.mark;
  check_tag(node.mark, tag);
  add(std::move(node));
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) {
  open(Node::Kind::list, mark, tag);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag,
                             YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) {
  open(Node::Kind::map, mark, tag);
}

Mark TreeBuilder::place(const YAML::Mark& mark) const {
  return {mark.line + 1, mark.column + 1, source_};
}

void TreeBuilder::open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
  Frame frame;
  frame.node.kind = kind;
  frame.node.mark = place(mark);
  check_tag(frame.node.mark, tag);
  count(frame.node.mark);
  if (open_.size() >= limits_.max_depth) {
    throw TooLarge(frame.node.mark, fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  open_.push_back(std::move(frame));
}

void TreeBuilder::close() {
  Node node = std::move(open_.back().node);
  open_.pop_back();
  add(std::move(node));
}

void TreeBuilder::add(Node node) {
  count(node.mark);
  if (open_.empty()) {
    if (documents_ <= 1) document_.root = std::move(node);
    return;
  }
  Frame& frame = open_.back();
  if (frame.node.kind == Node::Kind::list) {
    frame.node.items.push_back(std::move(node));
  } else if (!frame.has_key) {
    add_key(frame, std::move(node));
  } else {
    frame.has_key = false;
    if (frame.key_refused) return;
    // An empty value has no place of its own in the file; its key has.
    if (node.kind == Node::Kind::null) node.mark = frame.key_mark;
    frame.node.members.push_back({std::move(frame.key), frame.key_mark, std::move(node)});
  }
}

void TreeBuilder::add_key(Frame& frame, Node node) {
  frame.has_key = true;
  frame.key_mark = node.mark;
  frame.key_refused = true;
  if (node.kind != Node::Kind::scalar) {
    if (node.kind != Node::Kind::refused) problem(node.mark, "a key must be a single word or text");
    return;
  }
  const auto [first, is_new] = frame.lines.emplace(node.text, node.mark.line);
  if (!is_new) {
    problem(node.mark,
            fmt::format("duplicate key '{}'; first given in line {}", node.text, first->second));
    return;
  }
  frame.key_refused = false;
  frame.key = std::move(node.text);
}

void TreeBuilder::check_tag(Mark mark, const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!") return;
  problem(mark, fmt::format("tags ({}) are not supported; write the plain value", tag));
}

void TreeBuilder::count(Mark mark) {
  if (++nodes_ > limits_.max_nodes) {
    throw TooLarge(mark, fmt::format("more than {} values", limits_.max_nodes));
  }
}

void TreeBuilder::problem(Mark mark, std::string message) {
  document_.problems.push_back({mark, std::move(message)});
}

}  // namespace trainward::yaml
