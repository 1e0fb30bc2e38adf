// `ft shell`: a chat in the terminal.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/answer.h"
#include "cli/chat_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/line_reader.h"
#include "cli/model_options.h"
#include "cli/sampling_options.h"

namespace ft {
namespace {

constexpr const char* kCommand = "ft shell";
constexpr const char* kBlanks = " \t\n";
constexpr const char* kHelp =
    "/help            this list\n"
    "/reset           forget the conversation\n"
    "/think [on|off]  ask the template for thinking or none; alone: say how it is\n"
    "/stats           speed of the last answer\n"
    "/quit            leave, as Ctrl-D does\n"
    "A backslash at the end of a line continues it; lines between \"\"\" and \"\"\" are one "
    "message.\n"
    "Ctrl-C stops an answer. A message that begins with / needs a space in front.\n";

/// True for what one message can cause: without it the conversation goes on. Anything else, such as
/// a full disk, holds for the next message too.
bool belongs_to_the_message(const Error& error) {
  return error.kind() == ErrorKind::kBadInput || error.kind() == ErrorKind::kUnsupported ||
         error.kind() == ErrorKind::kOutOfMemory;
}

/// One conversation: messages, and the session that has read them.
class Chat {
 public:
  Chat(const ChatText& text, AnswerOptions options, Engine& engine,
       std::optional<std::string> system)
      : text_(text),
        options_(std::move(options)),
        engine_(engine),
        session_(engine.open_session()) {
    if (system) system_ = Message{"system", std::move(*system)};
    reset();
  }

  void reset() {
    messages_.clear();
    if (system_) messages_.push_back(*system_);
    session_->reset();
  }

  /// Shows the answer as it is made. A message that fails is taken back, so that the conversation
  /// stays sound.
  void say(const std::string& line) {
    messages_.push_back({"user", line});
    try {
      check_utf8(line, "the message");
      // The whole conversation each time: the session knows its beginning and reads only what is
      // new.
      auto tokens = encode_chat(*text_.chat_template, text_.tokenizer, messages_, is_thinking_);
      Answer answer =
          generate_answer(*session_, text_.tokenizer, std::move(tokens), options_, print);
      print(answer.is_interrupted ? " ...\n" : "\n");
      if (answer.reply.reason == StopReason::kContextFull) {
        print_line("the context is full; /reset begins anew");
      }
      if (answer.is_interrupted && answer.text.empty()) {
        messages_.pop_back();  // stopped before the first word: as if it had not been said
      } else {
        messages_.push_back({"assistant", std::move(answer.plain_text)});
      }
      ++options_.sampling.seed;  // the same question again may get another answer
      last_ = std::move(answer.reply);
    } catch (const Error& error) {
      if (!belongs_to_the_message(error)) throw;
      messages_.pop_back();
      print_line(fmt::format("error: {}", error.what()));
    }
  }

  void set_thinking(const std::string& word) {
    if (!can_switch_thinking(*text_.chat_template)) {
      print("this model's chat template has no switch for thinking\n");
    } else if (word == "on" || word == "off") {
      is_thinking_ = word == "on";
    } else if (!word.empty()) {
      print(fmt::format("/think on or /think off, not '{}'\n", word));
    } else {
      print(fmt::format("thinking is {}\n",
                        is_thinking_ ? (*is_thinking_ ? "on" : "off") : "as the template has it"));
    }
  }

  void show_stats() {
    if (!last_) return print("no answer yet\n");
    print(speed_text(*last_, speed_of(*last_, engine_)) + "\n");
  }

 private:
  const ChatText& text_;
  AnswerOptions options_;
  Engine& engine_;
  std::unique_ptr<Session> session_;
  std::optional<Message> system_;
  std::vector<Message> messages_;
  std::optional<bool> is_thinking_;  // nothing: as the template has it
  std::optional<Reply> last_;
};

/// A message of one line or several. kInterrupted: what was typed so far is dropped.
LineReader::Result read_message(LineReader& reader, std::string& message) {
  message.clear();
  bool is_block = false;
  Interrupts::clear();
  while (true) {
    std::string line;
    const bool is_first = message.empty() && !is_block;
    const auto result = reader.read_line(is_first ? "> " : "... ", line);
    if (result == LineReader::Result::kEnd && !message.empty()) return LineReader::Result::kLine;
    if (result != LineReader::Result::kLine) return result;
    if (message.size() + line.size() > kMaxInputBytes) {
      bad_input("the message has more than {} MiB; give a shorter one", kMaxInputBytes >> 20);
    }
    if (!line.empty()) reader.remember(line);
    if (is_first && line.starts_with("\"\"\"")) {
      is_block = true;
      line.erase(0, 3);
      if (line.empty()) continue;
    }
    if (is_block) {
      const bool is_end = line.ends_with("\"\"\"");
      if (is_end) line.resize(line.size() - 3);
      message += line;
      if (is_end) return LineReader::Result::kLine;
      message += '\n';
    } else if (line.ends_with('\\')) {
      line.back() = '\n';
      message += line;
    } else {
      message += line;
      return LineReader::Result::kLine;
    }
  }
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// False for /quit.
bool run_line(const std::string& line, Chat& chat) {
  const std::string_view typed = trimmed(line);
  const size_t n_name = std::min(typed.find_first_of(kBlanks), typed.size());
  const std::string name(typed.substr(0, n_name));
  const std::string rest(trimmed(typed.substr(n_name)));
  if (name != "/think" && !rest.empty()) {
    print(fmt::format("{} takes no words behind it; /help lists the commands\n", name));
  } else if (name == "/quit") {
    return false;
  } else if (name == "/help") {
    print(kHelp);
  } else if (name == "/reset") {
    chat.reset();
  } else if (name == "/think") {
    chat.set_thinking(rest);
  } else if (name == "/stats") {
    chat.show_stats();
  } else {
    print(fmt::format("unknown command {}; /help lists the commands\n", name));
  }
  return true;
}

void run_chat(LineReader& reader, Chat& chat) {
  const Interrupts interrupts(Interrupts::Second::kSetsTheFlagToo);
  std::string message;
  while (true) {
    const auto result = read_message(reader, message);
    if (result == LineReader::Result::kEnd) return;
    if (result == LineReader::Result::kInterrupted) continue;
    if (trimmed(message).empty()) continue;
    if (message.front() != '/') {
      chat.say(message);
    } else if (!run_line(message, chat)) {
      return;
    }
  }
}

}  // namespace

int run_shell(std::span<const std::string> arguments) {
  ModelOptions model;
  SamplingOptions sampling;
  std::optional<std::string> system;
  Options options(kCommand, "A chat in the terminal.");
  options.group("Prompt");
  options.value("--system", system, "What the model is told first");
  model.add_to(options);
  sampling.add_to(options);
  if (!options.parse(arguments)) return 0;

  EngineOptions engine_options = model.resolve(kCommand);
  model.refuse_dummy();
  const std::string folder = engine_options.model_dir;
  const ChatText text = load_chat_text(folder);
  if (!text.chat_template) {
    bad_input("{} has no chat template; `ft run --raw` continues a text with it", folder);
  }
  if (system) check_utf8(*system, "--system");
  if (!model.is_quiet) print_notes(text.tokenizer);
  AnswerOptions answer_options = sampling.resolve(kCommand, text);
  const auto engine = load_engine(std::move(engine_options), model.is_quiet);
  const auto reader = LineReader::open();
  if (!model.is_quiet && is_input_terminal()) {
    print_line(
        fmt::format("{}: {}; /help lists the commands", folder, engine->model().architecture));
  }
  Chat chat(text, std::move(answer_options), *engine, std::move(system));
  run_chat(*reader, chat);
  return 0;
}

}  // namespace ft
