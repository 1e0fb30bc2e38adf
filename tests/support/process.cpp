// Pipes, a pseudo-terminal, fork and exec.
#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "tests/support/pseudo_terminal.h"

namespace ft::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Long enough for a machine that is busy with other work; nothing waits as long on another one.
constexpr std::chrono::seconds kPatience(60);
constexpr unsigned kMostSeconds = 300;

int status_of(int raw) {
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

/// In the child: never returns.
[[noreturn]] void become_program(const Invocation& call) {
  std::vector<std::string> words{FT_PROGRAM};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  setenv("FT_DEMO_MODEL", kDemo.c_str(), 1);  // wherever the program was built
  for (const auto& [name, value] : call.environment) setenv(name.c_str(), value.c_str(), 1);
  signal(SIGPIPE, SIG_DFL);  // ours is ignored
  alarm(kMostSeconds);
  execv(argv[0], argv.data());
  std::perror(argv[0]);
  _exit(127);
}

/// Appends what can be read; false at the end.
bool append_from(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
  return n > 0;
}

std::array<int, 2> open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

}  // namespace

Outcome run(const Invocation& call) {
  const auto in = open_pipe(), out = open_pipe(), err = open_pipe();
  const pid_t process = fork();
  if (process == 0) {
    dup2(in[0], STDIN_FILENO);
    const int file = call.output.empty() ? out[1] : open(call.output.c_str(), O_WRONLY | O_CLOEXEC);
    dup2(file, STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    become_program(call);
  }
  for (const int fd : {in[0], out[1], err[1]}) close(fd);
  signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] {
    std::string_view rest = call.input;
    while (!rest.empty()) {
      const ssize_t n = write(in[1], rest.data(), rest.size());
      if (n <= 0) break;
      rest.remove_prefix(static_cast<size_t>(n));
    }
    close(in[1]);
  });
  Outcome outcome;
  std::array<pollfd, 2> sources{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    poll(sources.data(), sources.size(), -1);
    for (pollfd& source : sources) {
      std::string& text = &source == &sources[0] ? outcome.out : outcome.err;
      if (source.fd >= 0 && source.revents != 0 && !append_from(source.fd, text)) source.fd = -1;
    }
  }
  writer.join();
  close(out[0]);
  close(err[0]);
  int raw = 0;
  waitpid(process, &raw, 0);
  outcome.status = status_of(raw);
  return outcome;
}

Terminal::Terminal(const Invocation& call) : leader_(open_pseudo_terminal()) {
  if (leader_ < 0) throw std::runtime_error("no terminal");
  const std::string name = ptsname(leader_);
  process_ = fork();
  if (process_ == 0) {
    setsid();
    const int terminal =
        open(name.c_str(), O_RDWR);  // becomes the controlling terminal: Ctrl-C works
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(terminal, fd);
    if (terminal > STDERR_FILENO) close(terminal);
    become_program(call);
  }
}

Terminal::~Terminal() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(leader_);
}

void Terminal::type(const std::string& keys) {
  if (write(leader_, keys.data(), keys.size()) != std::ssize(keys)) {
    throw std::runtime_error("the terminal takes no keys");
  }
}

bool Terminal::read_some(int timeout_ms) {
  pollfd source{leader_, POLLIN, 0};
  return poll(&source, 1, timeout_ms) > 0 && append_from(leader_, screen_);
}

bool Terminal::wait_for(const std::string& text) {
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    if (const size_t at = screen_.find(text, seen_); at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    read_some(100);
  }
  return false;
}

bool Terminal::wait_for_prompt() {
  if (!wait_for("> ")) return false;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    termios settings{};
    if (tcgetattr(leader_, &settings) == 0 && (settings.c_lflag & ICANON) == 0) return true;
    read_some(50);
  }
  return false;
}

bool Terminal::wait_until_it_works() {
  constexpr int kEnough = 20;  // times 10 ms
  int n_cooked = 0;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end; read_some(10)) {
    termios settings{};
    if (tcgetattr(leader_, &settings) != 0) return false;
    n_cooked = (settings.c_lflag & ICANON) != 0 ? n_cooked + 1 : 0;
    if (n_cooked == kEnough) return true;
  }
  return false;
}

bool Terminal::wait_until_it_catches(int signal) {
  const std::string file = "/proc/" + std::to_string(process_) + "/status";
  const std::string key = "SigCgt:";
  for (const auto end = Clock::now() + kPatience; Clock::now() < end; read_some(10)) {
    const std::string status = read_file(file);
    const uint64_t caught = std::stoull(status.substr(status.find(key) + key.size()), nullptr, 16);
    if ((caught >> (signal - 1) & 1) != 0) return true;
  }
  return false;
}

int Terminal::wait_for_end() {
  int raw = 0;
  while (waitpid(process_, &raw, WNOHANG) == 0) read_some(50);
  while (read_some(0)) {
  }
  process_ = -1;
  return status_of(raw);
}

Folder::Folder() {
  path_ = (fs::temp_directory_path() / "ft-cli-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
}

Folder::~Folder() {
  fs::remove_all(path_);
}

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

void copy_demo(const std::string& folder, const std::map<std::string, std::string>& files) {
  fs::create_directories(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(kDemo)) {
    const std::string name = entry.path().filename().string();
    if (!files.contains(name)) fs::create_symlink(entry.path(), fs::path(folder) / name);
  }
  for (const auto& [name, text] : files) {
    if (!text.empty()) write_file(folder + "/" + name, text);
  }
}

}  // namespace ft::test
