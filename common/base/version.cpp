#include "common/base/version.hpp"

namespace trainward {

const std::string_view version_text = TRAINWARD_VERSION;

}  // namespace trainward
