// The command line of one command. A thin face over CLI11, whose header takes seconds to compile:
// only options.cpp includes it.
#pragma once

#include <cstdint>
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

  void flag(const std::string& name, bool& value, const std::string& help);
  void value(const std::string& name, std::optional<std::string>& value, const std::string& help);
  void value(const std::string& name, std::optional<int64_t>& value, const std::string& help);
  void value(const std::string& name, std::optional<uint64_t>& value, const std::string& help);
  void value(const std::string& name, std::optional<float>& value, const std::string& help);
  void repeated(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void words(const std::string& name, std::vector<std::string>& words, const std::string& help);

  /// The value of the option last added must lie in [least, most].
  void range(double least, double most);

  /// These two make no sense together: parse() refuses them.
  void excludes(const std::string& name, const std::string& other);
  /// The first makes no sense without the second: parse() refuses it alone.
  void needs(const std::string& name, const std::string& other);

  /// False if --help was asked for: it has been printed, and nothing is left to do. Errors:
  /// UsageError.
  bool parse(std::span<const std::string> arguments);

 private:
  struct App;
  template <typename T>
  void add_value(const std::string& name, T& value, const std::string& help);

  /// Errors: UsageError for a pair of options that breaks excludes() or needs().
  void check_pairs() const;

  std::string command_;
  std::string group_ = "Options";
  std::vector<std::pair<std::string, std::string>> excluded_;
  std::vector<std::pair<std::string, std::string>> needed_;
  std::unique_ptr<App> app_;
};

}  // namespace ft
