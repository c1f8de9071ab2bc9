// Times on a screen: of today the time, of other days the date too; local, or UTC.
#pragma once

#include "supervisor/ctl/top/top_documents.hpp"

namespace trainward::ctl::live {

top::TimeText time_text_of(std::int64_t now_ms, bool utc);

}  // namespace trainward::ctl::live
