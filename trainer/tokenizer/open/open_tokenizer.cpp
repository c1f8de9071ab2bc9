#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::string& name,
                                                  const std::string& end_of_text) {
  if (name != "byte") return BpeTokenizer::open(name, end_of_text);
  if (!end_of_text.empty()) {
    return fail(ErrorKind::usage, "the byte tokenizer has its own end of text, id 256",
                "end_of_text", "leave it out, or name a tokenizer.json");
  }
  return std::make_unique<ByteTokenizer>();
}

}  // namespace trainward::trainer
