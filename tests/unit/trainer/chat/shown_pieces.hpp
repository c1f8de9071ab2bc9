// Pieces as one text: what is trained on in [ ], what people wrote in ‹ ›.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {

inline std::string shown(const Result<std::vector<PromptPiece>>& pieces) {
  if (!pieces) return pieces.error().message();
  std::string text;
  for (const PromptPiece& piece : *pieces) {
    const std::string inside = piece.markup ? piece.text : "‹" + piece.text + "›";
    text += piece.answer ? "[" + inside + "]" : inside;
  }
  return text;
}

inline std::string joined(const Result<std::vector<PromptPiece>>& pieces) {
  if (!pieces) return pieces.error().message();
  std::string text;
  for (const PromptPiece& piece : *pieces) text += piece.text;
  return text;
}

inline std::string template_file(const std::string& name) {
  std::ifstream in(std::string(TEMPLATES) + "/" + name + ".jinja", std::ios::binary);
  EXPECT_TRUE(in.is_open()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline const TemplateTokens llama_tokens{"<s>", "</s>", "<unk>", ""};

inline std::shared_ptr<const PromptFormat> own(const std::string& jinja,
                                               const json::object& variables = {},
                                               const TemplateTokens& tokens = llama_tokens) {
  auto format = own_format(jinja, tokens, variables);
  EXPECT_TRUE(format.has_value()) << (format ? "" : format.error().message());
  return format ? *format : nullptr;
}

inline std::shared_ptr<const PromptFormat> built_in(std::string_view name) {
  auto format = built_in_format(name, llama_tokens);
  EXPECT_TRUE(format.has_value()) << (format ? "" : format.error().message());
  return format ? *format : nullptr;
}

}  // namespace trainward::trainer
