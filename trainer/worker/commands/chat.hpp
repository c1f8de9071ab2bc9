// trainward-worker chat: a conversation with a model, line by line.
//
// In: lines, each a turn of the user's or a command (/reset, /system TEXT, /help, /quit). Out: the
// answers on stdout as they come, nothing else there; everything about the conversation on stderr.
// What was computed of the conversation is kept for its next turn. Ctrl-C ends an answer, or the
// chat between answers; Ctrl-D ends the chat. Without a terminal lines are read as they come,
// without a prompt, and an error ends the chat.
// Exit codes: done; try_again when it was asked to stop; configuration for what only a person can
// change; failed for everything else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "trainer/worker/commands/speaker.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct ChatOptions {
  SpeakerOptions speaker;
  std::string system;  // empty: none
  std::int64_t tokens = 512;
  std::int64_t context = 4096;  // of the whole conversation; less where the model has less
  Sampling sampling;
  std::uint64_t seed = 0;
};

struct ChatPorts {
  const CommandPorts& command;
  std::function<std::optional<std::string>()> read_line;  // without its end; none: no more
  std::function<bool()> take_interrupt;  // Ctrl-C since the last call, or since the answer began
  bool terminal = false;
};

int run_chat(const ChatOptions& options, const ChatPorts& ports);

// Adds the command to the app.
void add_chat(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
