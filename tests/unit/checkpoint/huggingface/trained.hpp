// Checkpoints as our trainer leaves them of a model of the family, made from a seed.
#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/huggingface/model/model_record.hpp"
#include "tests/unit/checkpoint/huggingface/support.hpp"

namespace trainward::checkpoint::huggingface::testing {

// A checkpoint of step 0: every tensor of the folder in f32, rows of the vocabulary padded.
std::filesystem::path untrained(const std::filesystem::path& root,
                                const std::filesystem::path& base, ModelRecord record);

// The record of a run that begins from the folder.
ModelRecord record_for(const std::filesystem::path& base);

// Adapters of these modules in every layer, in f32, none of them zero.
std::vector<OwnedTensor> adapters_of(const Shape& shape, const LoraSettings& lora,
                                     std::uint64_t seed = 7);

// A checkpoint of adapters alone.
std::filesystem::path adapted(const std::filesystem::path& root, const Shape& shape,
                              const ModelRecord& record, std::uint64_t seed = 7);

std::filesystem::path saved(const std::filesystem::path& root, const ModelRecord& record,
                            const std::vector<OwnedTensor>& model);

}  // namespace trainward::checkpoint::huggingface::testing
