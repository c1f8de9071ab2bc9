#include "supervisor/ctl/arguments_checkpoint.hpp"

#include <algorithm>
#include <cctype>

namespace trainward::ctl {
namespace {

constexpr const char* place_help = "a checkpoint, a folder of checkpoints, or a program";

class Verbs {
 public:
  Verbs(CLI::App& ckpt, CheckpointArguments& parsed, Action& action)
      : ckpt_(ckpt), parsed_(parsed), action_(action) {}

  CLI::App& add(const char* verb, const char* help,
                int (*command)(const Context&, const CheckpointArguments&)) {
    auto* sub = ckpt_.add_subcommand(verb, help)->fallthrough();
    sub->callback([&parsed = parsed_, &action = action_, command] {
      action = [&parsed, command](const Context& context) { return command(context, parsed); };
    });
    return *sub;
  }

  CLI::App& add_with_place(const char* verb, const char* help,
                           int (*command)(const Context&, const CheckpointArguments&)) {
    CLI::App& sub = add(verb, help, command);
    sub.add_option("DIR", parsed_.place, place_help)->required();
    return sub;
  }

 private:
  CLI::App& ckpt_;
  CheckpointArguments& parsed_;
  Action& action_;
};

using Parsed = CheckpointArguments;

void add_reading(Verbs& verbs, Parsed& parsed) {
  verbs
      .add("list", "checkpoints on record, or in a folder",
           [](const Context& context, const Parsed& p) {
             return list_checkpoints(context, p.place);
           })
      .add_option("NAME_OR_DIR", parsed.place);
  verbs
      .add_with_place("show", "state, files and tensors of a checkpoint, or of the newest",
                      [](const Context& context, const Parsed& p) {
                        return show_checkpoint(context, p.place, p.tensors);
                      })
      .add_flag("--tensors", parsed.tensors, "each tensor too");
  verbs.add_with_place(
      "verify", "read every byte and compare checksums",
      [](const Context& context, const Parsed& p) { return verify_checkpoints(context, p.place); });
  verbs.add_with_place(
      "digest", "SHA-256 over the tensors of a checkpoint, or of the newest",
      [](const Context& context, const Parsed& p) { return digest_checkpoint(context, p.place); });
  auto& diff = verbs.add("diff", "what two checkpoints differ in",
                         [](const Context& context, const Parsed& p) {
                           return diff_checkpoints(context, p.place, p.second);
                         });
  diff.add_option("A", parsed.place, place_help)->required();
  diff.add_option("B", parsed.second, place_help)->required();
}

void add_keeping(Verbs& verbs, Parsed& parsed) {
  auto& prune = verbs.add(
      "prune", "remove checkpoints that need not stay",
      [](const Context& context, const Parsed& p) { return prune_checkpoints(context, p.prune); });
  prune.add_option("DIR", parsed.prune.place, "a folder of checkpoints, or a program")->required();
  prune.add_option("--keep", parsed.prune.keep, "the newest N that verify stay (2; at least 2)")
      ->check(CLI::Range(2, 1'000'000));
  prune.add_option("--every", parsed.prune.keep_every, "steps that are multiples of K stay")
      ->check(CLI::PositiveNumber);
  prune.add_flag("--dry-run", parsed.prune.dry_run, "only tell");
  auto& pin = verbs.add("pin", "keep a checkpoint whatever prune removes",
                        [](const Context& context, const Parsed& p) {
                          return pin_checkpoint(context, p.place, p.reason);
                        });
  pin.add_option("DIR", parsed.place, "a checkpoint")->required();
  pin.add_option("--reason", parsed.reason, "why; it is kept with the checkpoint");
  verbs
      .add("unpin", "let prune remove it again",
           [](const Context& context, const Parsed& p) {
             return unpin_checkpoint(context, p.place);
           })
      .add_option("DIR", parsed.place, "a checkpoint")
      ->required();
  auto& repair = verbs.add("repair", "verify all, set damaged ones aside, bring good ones back",
                           [](const Context& context, const Parsed& p) {
                             return repair_checkpoints(context, p.place, p.dry_run);
                           });
  repair.add_option("DIR", parsed.place, "a folder of checkpoints, or a program")->required();
  repair.add_flag("--dry-run", parsed.dry_run, "only tell");
}

void add_copying(Verbs& verbs, Parsed& parsed) {
  auto& convert = verbs.add("convert", "copy as a checkpoint, or as plain weights",
                            [](const Context& context, const Parsed& p) {
                              return convert_checkpoint(context, p.convert);
                            });
  convert
      .add_option("FROM", parsed.convert.from,
                  "a checkpoint, a .safetensors file or a folder with a Hugging Face model")
      ->required();
  convert
      .add_option("DIR", parsed.convert.to,
                  "the folder for checkpoints; with --weights the model's")
      ->required();
  convert
      .add_option_function<std::string>(
          "--type",
          [&parsed](std::string type) {
            std::transform(type.begin(), type.end(), type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
            parsed.convert.type = std::move(type);
          },
          "element type of the model: f32, bf16 or f16")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}, CLI::ignore_case));
  convert
      .add_option("--shard-size", parsed.convert.shard_bytes,
                  "largest size of a file, such as 4GB or 512MiB")
      ->transform(CLI::AsSizeValue(true));
  convert.add_flag("--weights", parsed.convert.weights_only,
                   "only the model's files, without optimizer and manifest");
}

void add_pytorch(Verbs& verbs, Parsed& parsed) {
  auto& import = verbs.add("import", "make a checkpoint of a file that torch.save wrote",
                           [](const Context& context, const Parsed& p) {
                             return import_checkpoint(context, p.import_from);
                           });
  import.add_option("FILE", parsed.import_from.file)->required();
  import.add_option("DIR", parsed.import_from.to, "the folder for checkpoints")->required();
  import.add_option("--step", parsed.import_from.step, "instead of the one in the file")
      ->check(CLI::NonNegativeNumber);
  import.add_option("--run", parsed.import_from.run, "the run's name in the checkpoint");
  import
      .add_option("--shard-size", parsed.import_from.shard_bytes,
                  "largest size of a file, such as 4GB or 512MiB")
      ->transform(CLI::AsSizeValue(true));
  auto& to = verbs.add("export", "write a file that torch.load reads",
                       [](const Context& context, const Parsed& p) {
                         return export_checkpoint(context, p.export_to);
                       });
  to.add_option("DIR", parsed.export_to.place, place_help)->required();
  to.add_option("FILE", parsed.export_to.file)->required();
  to.add_option("--like", parsed.export_to.like, "the checkpoint that was imported");
  to.add_option("--layout", parsed.export_to.layout, "zip or legacy")
      ->check(CLI::IsMember({"zip", "legacy"}));
}

}  // namespace

void add_checkpoint_verbs(CLI::App& app, CheckpointArguments& parsed, Action& action) {
  auto* ckpt = app.add_subcommand("ckpt", "checkpoints: list, show, verify, compare, copy, keep");
  ckpt->require_subcommand(1)->fallthrough();
  Verbs verbs(*ckpt, parsed, action);
  add_reading(verbs, parsed);
  add_keeping(verbs, parsed);
  add_copying(verbs, parsed);
  add_pytorch(verbs, parsed);
}

}  // namespace trainward::ctl
