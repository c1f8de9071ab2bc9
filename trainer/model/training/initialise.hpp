// First values of parameters: a function of the seed and the parameter's name, whatever the
// threads.
#pragma once

#include <span>

#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

// `values` holds info.size() elements; padding rows become zero. A row's values do not depend on
// how many rows there are, so a padded model starts out equal to the unpadded one.
void initialise(const ParameterInfo& info, std::uint64_t seed, std::span<float> values);

}  // namespace trainward::trainer
