// What a tokenizer of this file is known by: SHA-256, in hexadecimal, of all that decides the ids
// of a text, and of the token that ends one. The same for every way to write the same file; what
// older versions could read keeps its digest for ever, since runs resume under it.
#pragma once

#include <string>

#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {

std::string digest_of(const TokenizerFile& file, TokenId end);

}  // namespace trainward::trainer
