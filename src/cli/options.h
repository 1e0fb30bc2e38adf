// The command line of one command. A thin face over CLI11, whose header takes seconds to compile:
// only options.cpp includes it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ft {

/// A command line that makes no sense. main() adds where to find help.
class UsageError : public std::runtime_error {
 public:
  UsageError(std::string command, const std::string& text)
      : std::runtime_error(text), command_(std::move(command)) {}
  const std::string& command() const { return command_; }

 private:
  std::string command_;
};

/// Options are bound to variables, which parse() fills; an std::optional stays empty where its
/// option is not given.
class Options {
 public:
  Options(std::string command, const std::string& about);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  const std::string& command() const { return command_; }

  /// The heading of the options that follow, in --help.
  void group(std::string title) { group_ = std::move(title); }

  /// Both ends included.
  struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
  };

  // Numbers are decimal; a text is never empty.
  void flag(const std::string& name, bool& value, const std::string& help);
  void value(const std::string& name, std::optional<std::string>& value, const std::string& help);
  void value(const std::string& name, std::optional<int64_t>& value, const std::string& help,
             Range range);
  void value(const std::string& name, std::optional<int32_t>& value, const std::string& help);
  void value(const std::string& name, std::optional<uint64_t>& value, const std::string& help);
  void value(const std::string& name, std::optional<float>& value, const std::string& help);
  void repeated(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// What is no option, and all that is behind "--", as it was typed.
  void words(const std::string& name, std::vector<std::string>& words, const std::string& help);

  /// These two make no sense together: parse() refuses them.
  void excludes(const std::string& name, const std::string& other);
  /// The first makes no sense without the second: parse() refuses it alone.
  void needs(const std::string& name, const std::string& other);

  /// False if --help was asked for: it has been printed, and nothing is left to do. Errors:
  /// UsageError.
  bool parse(std::span<const std::string> arguments);

 private:
  struct App;
  struct Row {
    std::string name;
    std::string type;
    std::string help;
    bool is_repeated = false;
  };

  /// `take` gets each value as it was typed. Errors of `take`: std::invalid_argument.
  void add(const Row& row, const std::function<void(std::string)>& take);
  template <typename T>
  void add_number(const Row& row, std::optional<T>& value, Range range);

  /// Errors: UsageError for a pair of options that breaks excludes() or needs().
  void check_pairs() const;
  /// Errors: UsageError for the first argument that is neither an option nor a word: always.
  [[noreturn]] void refuse_rest() const;

  std::string command_;
  std::string group_ = "Options";
  bool has_words_ = false;
  std::vector<std::pair<std::string, std::string>> excluded_;
  std::vector<std::pair<std::string, std::string>> needed_;
  std::unique_ptr<App> app_;
};

}  // namespace ft
