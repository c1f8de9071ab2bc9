// A chat template in the part of Jinja that chat templates use (docs/finetune.md lists it).
//
// parse() takes the source as a model's folder has it, render() the variables, and gives the text
// with its marks. Errors: usage; `where` is the line ("line 12"), `what` names the construct. Both
// are pure and bounded (limits.hpp). A template never changes and may be rendered by several
// threads.
#pragma once

#include <memory>
#include <string_view>

#include "trainer/chat/jinja/rendering.hpp"

namespace trainward::trainer::jinja {

class Template {
 public:
  static Result<Template> parse(std::string_view source);

  Result<Text> render(const Variables& variables, Budget& budget) const {
    return Rendering(variables, budget).run(*tree_);
  }
  bool has_generation() const { return tree_->has_generation; }

 private:
  explicit Template(Tree tree) : tree_(std::make_shared<const Tree>(std::move(tree))) {}

  std::shared_ptr<const Tree> tree_;
};

inline Result<Template> Template::parse(std::string_view source) {
  auto tokens = tokens_of(source);
  if (!tokens) return propagate(tokens);
  auto tree = jinja::parse(*tokens);
  if (!tree) return propagate(tree);
  return Template(std::move(*tree));
}

}  // namespace trainward::trainer::jinja
