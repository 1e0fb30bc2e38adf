// Runs the built program as a user would: arguments, standard input, environment; and through a
// terminal.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ft::test {

struct Outcome {
  int status = -1;  // exit status; 128 + the signal's number if one ended it
  std::string out;
  std::string err;
};

struct Invocation {
  std::vector<std::string> arguments;
  std::string input;                               // standard input, a pipe
  std::map<std::string, std::string> environment;  // besides ours and FT_DEMO_MODEL
  std::string output = {};  // the file that standard output goes to; "": Outcome::out
};

/// Waits for the end, five minutes at most.
Outcome run(const Invocation& call);

inline Outcome run(std::vector<std::string> arguments, std::string input = "") {
  return run(
      Invocation{.arguments = std::move(arguments), .input = std::move(input), .environment = {}});
}

/// The program on a terminal of its own. Everything it writes, on both outputs, comes here.
class Terminal {
 public:
  explicit Terminal(const Invocation& call);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys);

  /// Waits until `text` has come that was not there at the last wait; false after a minute.
  bool wait_for(const std::string& text);
  /// Waits for "> " and until the program reads single keys: the line editor shows its prompt a
  /// moment before it does.
  bool wait_for_prompt();
  /// Waits until the program has not read single keys for 0.2 s: it has taken a message and works.
  bool wait_until_it_works();
  /// Waits until the program has a handler for the signal; false after a minute.
  bool wait_until_it_catches(int signal);
  /// The exit status, as in Outcome.
  int wait_for_end();

  const std::string& screen() const { return screen_; }

 private:
  bool read_some(int timeout_ms);

  int leader_ = -1;
  int process_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

/// A folder that is empty at first and removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const std::string& file);
void write_file(const std::string& file, const std::string& text);

/// The demo model, for tests that build a damaged copy of it.
inline const std::string kDemo = FT_SOURCE_DIR "/models/demo";

/// The demo model's folder with `files` in place of its own; "" leaves the file out. The weights
/// are links.
void copy_demo(const std::string& folder, const std::map<std::string, std::string>& files);

}  // namespace ft::test
