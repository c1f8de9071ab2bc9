#include "supervisor/orders/targets.hpp"

#include <type_traits>
#include <utility>

#include "common/base/cases.hpp"
#include "supervisor/orders/no_order.hpp"

namespace trainward::orders {
namespace {

json::object place_json(const Target& target) {
  return std::visit(Cases{[](const FolderPlace& place) {
                            return json::object{{"folder", place.folder}};
                          },
                          [](const S3Place& place) {
                            return json::object{{"endpoint", place.endpoint},
                                                {"bucket", place.bucket},
                                                {"prefix", place.prefix},
                                                {"region", place.region},
                                                {"credentials_file", place.credentials_file}};
                          },
                          [](const HubPlace& place) {
                            return json::object{{"repo", place.repo},
                                                {"private", place.is_private},
                                                {"token_file", place.token_file},
                                                {"history", place.history},
                                                {"form", place.form},
                                                {"endpoint", place.endpoint},
                                                {"revision", place.revision}};
                          }},
                    target.place);
}

// Members that to_json() always writes; what is missing is as by default, which no order of ours
// leaves to chance.
Result<Target> target_from_json(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_order("uploads", "an invalid target");
  auto place = get_object(*object, "place");
  if (!place) return propagate(place);
  const json::object& at = **place;
  Target out;
  out.name = string_or(*object, "name", "");
  out.cadence = {int_or(*object, "every_ms", 0), int_or(*object, "every_steps", 0),
                 bool_or(*object, "milestones", false)};
  const std::string kind = string_or(*object, "kind", "");
  if (kind == "folder") {
    out.place = FolderPlace{string_or(at, "folder", "")};
  } else if (kind == "s3") {
    out.place = S3Place{string_or(at, "endpoint", ""), string_or(at, "bucket", ""),
                        string_or(at, "prefix", ""), string_or(at, "region", ""),
                        string_or(at, "credentials_file", "")};
  } else if (kind == "hub") {
    HubPlace hub;
    hub.repo = string_or(at, "repo", "");
    hub.is_private = bool_or(at, "private", hub.is_private);
    hub.token_file = string_or(at, "token_file", "");
    hub.history = string_or(at, "history", hub.history);
    hub.form = string_or(at, "form", hub.form);
    hub.endpoint = string_or(at, "endpoint", "");
    hub.revision = string_or(at, "revision", hub.revision);
    out.place = std::move(hub);
  } else {
    return no_order("uploads", "a target of the kind '" + kind + "'");
  }
  if (out.name.empty()) return no_order("uploads", "a target without a name");
  return out;
}

Result<Source> source_from_json(const json::object& object) {
  Source out;
  out.program = string_or(object, "program", "");
  out.checkpoints = string_or(object, "checkpoints", "");
  out.directory = string_or(object, "directory", "");
  out.foreign = bool_or(object, "foreign", false);
  out.milestone_every = int_or(object, "milestone_every", 0);
  out.user = string_or(object, "user", "");
  if (const json::value* patterns = object.if_contains("patterns"); patterns != nullptr) {
    const auto* list = patterns->if_array();
    if (list == nullptr) return no_order("uploads", "invalid patterns");
    for (const json::value& pattern : *list) {
      if (!pattern.is_string()) return no_order("uploads", "an invalid pattern");
      out.patterns.emplace_back(view(pattern.get_string()));
    }
  }
  if (out.program.empty() || out.checkpoints.empty())
    return no_order("uploads", "no program, or no folder");
  return out;
}

}  // namespace

std::string_view kind_of(const Target& target) {
  return std::visit(
      Cases{[](const FolderPlace&) { return "folder"; }, [](const S3Place&) { return "s3"; },
            [](const HubPlace&) { return "hub"; }},
      target.place);
}

std::string shown_place(const Target& target) {
  return std::visit(Cases{[](const FolderPlace& place) { return place.folder; },
                          [](const S3Place& place) {
                            std::string shown = place.endpoint + "/" + place.bucket;
                            if (!place.prefix.empty()) shown += "/" + place.prefix;
                            return shown;
                          },
                          [](const HubPlace& place) { return "hub:" + place.repo; }},
                    target.place);
}

std::string place_identity(const Target& target) {
  const auto* hub = std::get_if<HubPlace>(&target.place);
  if (hub == nullptr) return shown_place(target);
  return shown_place(target) + "@" + hub->revision + " " + hub->endpoint;
}

json::object to_json(const Upload& upload) {
  json::object out;
  json::array targets;
  for (const Target& target : upload.targets) {
    targets.push_back(json::object{{"name", target.name},
                                   {"kind", kind_of(target)},
                                   {"place", place_json(target)},
                                   {"every_ms", target.cadence.every_ms},
                                   {"every_steps", target.cadence.every_steps},
                                   {"milestones", target.cadence.milestones}});
  }
  out["targets"] = std::move(targets);
  out["bytes_per_second"] = upload.bytes_per_second;
  if (upload.window) {
    out["window"] = json::object{{"from", upload.window->from}, {"to", upload.window->to}};
  }
  out["restore"] = upload.restore;
  return out;
}

json::object to_json(const UploadOrder& order) {
  const Source& source = order.source;
  json::array patterns;
  for (const std::string& pattern : source.patterns) patterns.emplace_back(pattern);
  return {{"source", json::object{{"program", source.program},
                                  {"checkpoints", source.checkpoints},
                                  {"directory", source.directory},
                                  {"foreign", source.foreign},
                                  {"milestone_every", source.milestone_every},
                                  {"user", source.user},
                                  {"patterns", std::move(patterns)}}},
          {"upload", to_json(order.upload)}};
}

Result<Upload> upload_from_json(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_order("uploads", "it is no object");
  auto targets = get_array(*object, "targets");
  if (!targets) return propagate(targets);
  Upload out;
  for (const json::value& item : **targets) {
    auto target = target_from_json(item);
    if (!target) return propagate(target);
    out.targets.push_back(std::move(*target));
  }
  out.bytes_per_second = int_or(*object, "bytes_per_second", 0);
  out.restore = bool_or(*object, "restore", false);
  if (object->contains("window")) {
    auto window = get_object(*object, "window");
    if (!window) return propagate(window);
    out.window = Window{static_cast<int>(int_or(**window, "from", 0)),
                        static_cast<int>(int_or(**window, "to", 0))};
  }
  return out;
}

Result<UploadOrder> upload_order_from_json(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_order("uploads", "it is no object");
  auto source = get_object(*object, "source");
  if (!source) return propagate(source);
  auto about = source_from_json(**source);
  if (!about) return propagate(about);
  const json::value* what = object->if_contains("upload");
  if (what == nullptr) return no_order("uploads", "nothing is said of what goes up");
  auto upload = upload_from_json(*what);
  if (!upload) return propagate(upload);
  return UploadOrder{std::move(*about), std::move(*upload)};
}

}  // namespace trainward::orders
