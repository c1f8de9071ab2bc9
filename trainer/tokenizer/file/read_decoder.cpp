// The part `decoder` of a tokenizer.json.
#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {
namespace {

// In the order in which they must come.
enum class Stage { replace, byte_fallback, fuse, strip, done };

Status read_strip(const json::object& object, const std::string& where, DecoderRule& rule) {
  StrictObject keys(object, where);
  keys.leave("type");
  std::string content;
  std::int64_t start = 0;
  std::int64_t stop = 0;
  keys.text("content", content);
  keys.whole("start", start, {0, 1});
  keys.whole("stop", stop, {0, 0});
  if (content != " ") keys.complain("content", "is not one space, which alone is supported");
  rule.strip = start == 1;
  return keys.finish();
}

Status read_metaspace(const json::object& object, const std::string& where, DecoderRule& rule) {
  // Written as the pre-tokenizer of that name, whose reader knows all its spellings.
  TokenizerFile read;
  if (auto ok = read_pre_tokenizer(object, read); !ok) {
    ok.error().where.replace(0, std::string_view("pre_tokenizer").size(), where);
    return ok;
  }
  const auto& metaspace = std::get<Metaspace>(read.rules.front());
  rule.replace.push_back({metaspace.replacement, " "});
  rule.strip = metaspace.prepend != Metaspace::Prepend::never;
  return {};
}

class Steps {
 public:
  explicit Steps(DecoderRule& rule) : rule_(&rule) {}

  Status read(const json::value& value, const std::string& where) {
    if (!value.is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
    const json::object& object = value.get_object();
    const std::string type = string_or(object, "type", "?");
    if (type == "Metaspace") {
      if (auto ok = reach(Stage::replace, type, where); !ok) return ok;
      stage_ = Stage::done;
      return read_metaspace(object, where, *rule_);
    }
    if (type == "Replace") {
      if (auto ok = reach(Stage::replace, type, where); !ok) return ok;
      return read_replace(object, where, rule_->replace.emplace_back());
    }
    if (type == "Strip") {
      if (stage_ != Stage::fuse) {
        return fail(ErrorKind::usage, "'Strip' must come right after Fuse", where);
      }
      stage_ = Stage::strip;
      return read_strip(object, where, *rule_);
    }
    if (type != "ByteFallback" && type != "Fuse") {
      return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
                  "supported beside a vocabulary of characters: Metaspace, or a Sequence of "
                  "Replace, ByteFallback, Fuse and Strip");
    }
    const bool bytes = type == "ByteFallback";
    if (auto ok = reach(bytes ? Stage::byte_fallback : Stage::fuse, type, where); !ok) return ok;
    if (bytes) rule_->byte_fallback = true;
    StrictObject keys(object, where);
    keys.leave("type");
    return keys.finish();
  }

 private:
  Status reach(Stage stage, const std::string& type, const std::string& where) {
    if (stage < stage_) {
      return fail(ErrorKind::usage, fmt::format("'{}' is not supported at this place", type), where,
                  "the order must be Replace, ByteFallback, Fuse, Strip");
    }
    stage_ = stage;
    return {};
  }

  DecoderRule* rule_;
  Stage stage_ = Stage::replace;
};

}  // namespace

Status read_decoder(const json::value& value, TokenizerFile& file) {
  const std::string where = "decoder";
  const std::string type = type_of(value);
  if (file.spelling == Spelling::bytes) {
    if (type == "ByteLevel") return {};
    return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
                "byte-level BPE has the decoder ByteLevel");
  }
  Steps steps(file.decoder);
  return read_sequence(
      value, where, {"decoders", "steps", 8},
      [&](const json::value& step, const std::string& at) { return steps.read(step, at); });
}

}  // namespace trainward::trainer
