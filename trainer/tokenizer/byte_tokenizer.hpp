// A token for every byte, and 256 for the end of a document.
#pragma once

#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class ByteTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId end = 256;
  static constexpr std::int64_t size = 257;

  ByteTokenizer();

  // A byte's token is called as the byte; the end has no name.
  [[nodiscard]] std::optional<TokenId> find_token(std::string_view content) const override;
  [[nodiscard]] std::int64_t vocabulary() const override { return size; }
  [[nodiscard]] TokenId end_of_text() const override { return end; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }

 private:
  Status encode_part(std::string_view text, const EncodeOptions& options, std::vector<TokenId>& out,
                     const Watch& watch) override;
  [[nodiscard]] Result<std::string> decode_part(std::span<const TokenId> ids,
                                                const DecodeOptions& options) const override;

  std::string name_ = "byte";
  std::string digest_;
};

}  // namespace trainward::trainer
