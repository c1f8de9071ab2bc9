// What a plain store (a folder, a bucket) holds of a program, and what of it may be believed. Pure.
//
//   PROGRAM/step-00001234/…                            the files, as they lay
//   PROGRAM/published/000000001234.step-00001234.json  written when all of them have arrived: name,
//                                                      step, and size and SHA-256 of each file
//   PROGRAM/latest.json                                the newest of those
//
// A reader believes only what is named in `published`. File names never leave their checkpoint's
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload {

inline constexpr std::size_t longest_manifest = 4U << 20U;
inline constexpr std::size_t most_files = 10'000;

// Digests that are not taken yet are empty.
Remote remote_of(const Package& package);

std::string manifest_text(const std::string& program, const Remote& remote);
// Kind corrupt: it is no record, or names a file that would lie elsewhere; permanent: its version
// is not known.
Result<Remote> parse_manifest(std::string_view text, std::string_view where);

// Checks that a restore can read `text`, the record of `remote`, and finds in it what was
// published. Kind permanent, with what cannot be read: a name that is not UTF-8, or more names than
// a record has room for.
Status check_readable(std::string_view text, const Remote& remote);
// The same before any byte is sent; digests need not be known yet.
Status check_readable(const Package& package);

// Same name, step and files.
bool same_content(const Remote& a, const Remote& b);

// Whether `a` was saved after `b`; where that is not on record, whether its step is later.
bool is_newer(const Remote& a, const Remote& b);

// "step-00000500/model.safetensors" below a folder and nowhere else: no empty part, ".", "..", '\\'
// or control character; UTF-8, since records are JSON.
bool is_safe_name(std::string_view name);

// ---- keys ----
std::string published_folder(const std::string& program);  // ends with '/'
std::string manifest_key(const std::string& program, std::int64_t step, const std::string& name);
std::string latest_key(const std::string& program);
std::string file_key(const std::string& program, const std::string& name, const std::string& file);

// The step that a key of `published` begins with; -1: it is not one of ours.
std::int64_t step_of_key(std::string_view key);

}  // namespace trainward::upload
