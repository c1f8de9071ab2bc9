// Turns the parser's stream of events into our tree, checking as it goes.
//
// Throws TooLarge out of the parser when a limit is passed: there is no other way to stop it. Only
// parse() sees that.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/yaml/document.hpp"

namespace trainward::yaml {

struct TooLarge : std::runtime_error {
  TooLarge(Mark where, const std::string& message) : std::runtime_error(message), mark(where) {}
  Mark mark;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const Limits& limits, int source) : limits_(limits), source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override;

  Document take() { return std::move(document_); }
  // Where the last quoted scalar begins; line 0 if there were no quoted scalars.
  [[nodiscard]] Mark last_quoted() const { return last_quoted_; }

 private:
  struct Frame {  // a list or map that is still open
    Node node;
    bool has_key = false;
    bool key_refused = false;
    std::string key;
    Mark key_mark;
    std::unordered_map<std::string, int> lines;  // of the keys so far
  };

  [[nodiscard]] Mark place(const YAML::Mark& mark) const;
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag);
  void close();
  void add(Node node);
  void add_key(Frame& frame, Node node);
  void check_tag(Mark mark, const std::string& tag);
  void count(Mark mark);
  void problem(Mark mark, std::string message);

  Limits limits_;
  int source_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
  Mark last_quoted_;
  std::vector<Frame> open_;
  Document document_;
};

}  // namespace trainward::yaml
