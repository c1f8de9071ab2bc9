#include "supervisor/ctl/arguments_cache.hpp"

#include "common/yaml/scalar.hpp"

namespace trainward::ctl {

void add_cache_verbs(CLI::App& app, CacheArguments& parsed, Action& action) {
  auto* cache = app.add_subcommand("cache", "compiled programs: list, verify, prune, clear");
  cache->require_subcommand(1)->fallthrough();
  CacheRequest& request = parsed.request;
  const auto add = [&](const char* verb, const char* help,
                       int (*command)(const Context&, const CacheRequest&)) {
    auto* sub = cache->add_subcommand(verb, help)->fallthrough();
    sub->add_option("--dir", request.folder, "the cache (STATE_DIR/cache/programs)");
    sub->callback([&request, &action, command] {
      action = [&request, command](const Context& context) { return command(context, request); };
    });
    return sub;
  };
  add("list", "what is cached, and what is known of plugins", list_programs);
  add("verify", "read every byte and compare checksums", verify_programs)
      ->add_flag("--repair", request.repair, "remove the damaged ones");
  auto* prune = add("prune", "remove programs that were not used for long", prune_programs);
  auto* by_size = prune->add_option("--max-bytes", request.max_bytes,
                                    "as much may stay, such as 2GB or 512MiB");
  by_size->transform(CLI::AsSizeValue(true));
  auto* by_age = prune->add_option_function<std::string>(
      "--older-than",
      [&request](const std::string& text) {
        request.older_than_ms = yaml::parse_duration_ms(text);
        if (!request.older_than_ms || *request.older_than_ms < 0) {
          throw CLI::ValidationError("--older-than", "is a duration such as 12h or 30d");
        }
      },
      "what was not used for so long, such as 30d");
  prune->callback([&request, &action, by_size, by_age] {
    if (by_size->count() + by_age->count() == 0) {
      throw CLI::RequiredError("--max-bytes or --older-than");
    }
    action = [&request](const Context& context) { return prune_programs(context, request); };
  });
  add("clear", "remove everything, also what is known of plugins", clear_programs);
}

}  // namespace trainward::ctl
