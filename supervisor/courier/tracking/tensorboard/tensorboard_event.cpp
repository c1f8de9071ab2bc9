#include "supervisor/courier/tracking/tensorboard/tensorboard_event.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "common/base/utf8.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_record.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_wire.hpp"

// The numbers of fields are those of TensorBoard's event.proto, summary.proto, tensor.proto,
// tensor_shape.proto and of the hparams plugin's plugin_data.proto and api.proto.
namespace trainward::tracking {
namespace {

namespace event_field {
constexpr unsigned wall_time = 1;
constexpr unsigned step = 2;
constexpr unsigned file_version = 3;
constexpr unsigned summary = 5;
constexpr unsigned session_log = 7;
constexpr unsigned source_metadata = 10;
}  // namespace event_field

namespace value_field {
constexpr unsigned tag = 1;
constexpr unsigned simple_value = 2;
constexpr unsigned tensor = 8;
constexpr unsigned metadata = 9;
}  // namespace value_field

constexpr std::int64_t session_start = 1;
constexpr std::int64_t session_stop = 2;
constexpr std::int64_t dt_float = 1;
constexpr std::int64_t dt_string = 7;

enum class DataClass { scalar = 1, tensor = 2 };

// A wall time that is no number ends the file for one of the loaders.
Message begun(std::int64_t at_ms, std::int64_t step) {
  Message event;
  event.number(event_field::wall_time, static_cast<double>(at_ms) / 1000.0);
  if (step != 0) event.whole(event_field::step, step);
  return event;
}

Message metadata_of(std::string_view plugin, const std::string& content, DataClass data_class) {
  Message plugin_data;
  plugin_data.bytes(1, plugin);
  if (!content.empty()) plugin_data.bytes(2, content);
  Message metadata;
  metadata.message(1, plugin_data);
  metadata.whole(4, static_cast<std::int64_t>(data_class));
  return metadata;
}

// A list of one text.
Message text_tensor(std::string_view text) {
  Message dimension;
  dimension.whole(1, 1);
  Message shape;
  shape.message(2, dimension);
  Message tensor;
  tensor.whole(1, dt_string).message(2, shape).bytes(8, text);
  return tensor;
}

// google.protobuf.Value; nothing for what hparams cannot be.
std::optional<Message> hparam_value(const json::value& value) {
  Message out;
  if (value.is_string()) return out.bytes(3, valid_utf8(std::string(value.get_string())));
  if (value.is_bool()) return out.whole(4, value.get_bool() ? 1 : 0);
  if (value.is_number()) return out.number(2, value.to_number<double>());
  return std::nullopt;
}

Message session_event(std::int64_t at_ms, std::int64_t step, std::int64_t status) {
  Message log;
  log.whole(1, status);
  Message event = begun(at_ms, step);
  return event.message(event_field::session_log, log);
}

// An event whose one value says everything in what it says of its tag.
Message hparams_event(std::int64_t at_ms, std::int64_t step, std::string_view tag,
                      const Message& plugin_data) {
  Message tensor;
  tensor.whole(1, dt_float).bytes(2, "");
  Message value;
  value.bytes(value_field::tag, tag);
  value.message(value_field::tensor, tensor);
  value.message(value_field::metadata,
                metadata_of("hparams", plugin_data.text(), DataClass::tensor));
  Message summary;
  summary.message(1, value);
  Message event = begun(at_ms, step);
  return event.message(event_field::summary, summary);
}

}  // namespace

void EventFile::version(std::int64_t at_ms) {
  Message source;
  source.bytes(1, "trainward");
  Message event = begun(at_ms, 0);
  event.bytes(event_field::file_version, "brain.Event:2");
  event.message(event_field::source_metadata, source);
  append_record(records_, event.text());
}

void EventFile::start(std::int64_t at_ms, std::int64_t step) {
  append_record(records_, session_event(at_ms, step, session_start).text());
}

void EventFile::stop(std::int64_t at_ms, std::int64_t step) {
  append_record(records_, session_event(at_ms, step, session_stop).text());
}

void EventFile::add(const Event& event) {
  Message summary;
  const auto put = [&](const std::string& tag, std::string_view plugin, DataClass data_class,
                       const auto& add_value) {
    Message value;
    value.bytes(value_field::tag, tag);
    add_value(value);
    if (known_tags_.insert(tag).second) {
      value.message(value_field::metadata, metadata_of(plugin, "", data_class));
    }
    summary.message(1, value);
  };
  for (const Scalar& scalar : event.scalars) {
    put(scalar.tag, "scalars", DataClass::scalar, [&](Message& value) {
      value.small_number(value_field::simple_value, static_cast<float>(scalar.value));
    });
  }
  for (const Text& text : event.texts) {
    put(text.tag, "text", DataClass::tensor, [&](Message& value) {
      value.message(value_field::tensor, text_tensor(valid_utf8(text.markdown)));
    });
  }
  Message out = begun(event.at_ms, event.step);
  append_record(records_, out.message(event_field::summary, summary).text());
}

void EventFile::hparams(std::int64_t at_ms, std::int64_t step, std::string_view group,
                        const json::object& values) {
  Message session;
  for (const auto& [name, value] : values) {
    const auto encoded = hparam_value(value);
    if (!encoded) continue;
    Message entry;
    entry.bytes(1, valid_utf8(std::string(name))).message(2, *encoded);
    session.message(1, entry);
  }
  session.bytes(4, group);
  session.number(5, static_cast<double>(at_ms) / 1000.0);
  Message data;
  data.message(3, session);
  const Message event = hparams_event(at_ms, step, "_hparams_/session_start_info", data);
  append_record(records_, event.text());
}

void EventFile::hparams_end(std::int64_t at_ms, std::int64_t step, bool succeeded) {
  constexpr std::int64_t success = 1;
  constexpr std::int64_t failure = 2;
  Message session;
  session.whole(1, succeeded ? success : failure);
  session.number(2, static_cast<double>(at_ms) / 1000.0);
  Message data;
  data.message(4, session);
  const Message event = hparams_event(at_ms, step, "_hparams_/session_end_info", data);
  append_record(records_, event.text());
}

std::string EventFile::take() { return std::exchange(records_, {}); }

std::optional<SeenEvent> seen_event(std::string_view data) {
  SeenEvent seen;
  while (!data.empty()) {
    auto field = take_field(data);
    if (!field) return std::nullopt;
    if (field->number == event_field::wall_time) {
      seen.at_ms = std::llround(std::bit_cast<double>(field->value) * 1000.0);
    } else if (field->number == event_field::step) {
      seen.step = static_cast<std::int64_t>(field->value);
    } else if (field->number == event_field::session_log) {
      const auto status = take_field(field->bytes);
      seen.starts = status && status->value == session_start;
      seen.stops = status && status->value == session_stop;
    } else if (field->number == event_field::summary) {
      while (const auto value = take_field(field->bytes)) {
        std::string_view inside = value->bytes;
        const auto tag = take_field(inside);
        if (tag && tag->number == value_field::tag) seen.tags.emplace_back(tag->bytes);
      }
    }
  }
  return seen;
}

}  // namespace trainward::tracking
