// The angles of rotary positions, in double and then f32, as files of Hugging Face mean them.
//
// Su et al. 2021; `llama3` as Llama 3.1 stretches it: wavelengths shorter than original_positions /
// high stay, longer than original_positions / low are divided by factor, between both it goes over
// smoothly. Pure.
#pragma once

#include <span>
#include <vector>

#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer {

// Radians a position for each pair of a head's halves: width / 2 of them.
std::vector<double> rope_frequencies(const RopeSpec& rope, std::int64_t head_width);

// Row p has the cosines, or the sines, of p times each frequency.
enum class RopeTable { cosines, sines };
void fill_rope(RopeTable which, const RopeSpec& rope, std::int64_t head_width,
               std::span<float> values);

}  // namespace trainward::trainer
