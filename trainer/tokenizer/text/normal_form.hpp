// Unicode's normal forms (UAX #15).
//
// In: valid UTF-8 of any length. Out: its normal form, also valid UTF-8: `text` itself where it is
// in that form already, else `copy`, which is overwritten. The tables are those of utf8proc, whose
// Unicode version is the distribution's: characters younger than it stay as they are.
// Memory: the copy, where one is needed, and 8 bytes for each mark of the longest run of marks.
// Time: linear, but for runs of marks, which are sorted. No errors; any number of threads.
#pragma once

#include <string>
#include <string_view>

namespace trainward::trainer {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

std::string_view normal_form(std::string_view text, NormalForm form, std::string& copy);

}  // namespace trainward::trainer
