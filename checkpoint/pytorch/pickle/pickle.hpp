// Reads a pickle as data. No code can run: there is a fixed table of opcodes and one of names
// (globals.hpp); a call builds a node, anything else is refused with its byte offset.
//
// In: a range of bytes. Out: a tree (pickle_tree.hpp) and where the pickle ended. Refused, kind
// corrupt: truncation, an unknown opcode or name, a protocol other than 2, a stack that is not
// exactly the result at the end, text that is not UTF-8, a key twice in one dictionary, a tensor
// that reaches beyond its storage. Time and memory are linear in the bytes read and bounded by
// Limits; nothing is recursive, nothing is copied through the memo.
#pragma once

#include <cstdint>

#include "checkpoint/pytorch/pickle/byte_source.hpp"
#include "checkpoint/pytorch/pickle/pickle_tree.hpp"

namespace trainward::checkpoint::pytorch {

struct Limits {
  std::uint64_t nodes = 1ULL << 21U;        // values, and the largest memo index
  std::uint64_t links = 1ULL << 23U;        // places in lists, dictionaries and on the stack
  std::uint64_t text_bytes = 64ULL << 20U;  // of all texts together
  std::uint64_t marks = 4096;               // open at a time
  // Names that are not on the list, their calls and what is put into these are kept as an opaque
  // Call instead of refused: for those who look for a number beside them. Nothing is loaded so.
  bool unknown_names = false;
};

struct Parsed {
  Tree tree;
  std::uint64_t end = 0;  // just behind the pickle
};

Result<Parsed> parse_pickle(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
                            const Limits& limits = {});

}  // namespace trainward::checkpoint::pytorch
