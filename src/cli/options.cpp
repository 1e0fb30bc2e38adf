// The only file that includes CLI11, which finds options and writes the help; values are read here.
#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/console.h"

namespace ft {
namespace {

/// CLI11 takes "[a,b]", "{}" and "++" for notations of its own. With this character in front, which
/// no argument of a program can hold, they are texts like any other.
constexpr char kGuard = '\0';

std::string guarded(std::string argument) {
  if (!argument.starts_with('-')) return kGuard + argument;
  if (argument.ends_with("={}")) argument.insert(argument.size() - 2, 1, kGuard);
  return argument;
}

std::string as_typed(std::string argument) {
  std::erase(argument, kGuard);
  return argument;
}

template <typename T>
constexpr const char* kKindOfNumber = std::is_floating_point_v<T> ? "number"
                                      : std::is_signed_v<T>       ? "whole number"
                                                                  : "whole number from 0 on";

/// Decimal, in every locale. Errors: a text that says what is wrong.
template <typename T>
T parse_number(const std::string& text, Options::Range range) {
  T number{};
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc::result_out_of_range) {
    throw std::invalid_argument(fmt::format("{} is too large or too small for this program", text));
  }
  if (error != std::errc() || end != last || number != number) {  // "nan" is read as a number
    throw std::invalid_argument(fmt::format("'{}' is no {}", text, kKindOfNumber<T>));
  }
  const auto value = static_cast<double>(number);
  if (!(value >= range.least && value <= range.most)) {
    throw std::invalid_argument(
        fmt::format("{} is outside {} to {}", text, range.least, range.most));
  }
  return number;
}

}  // namespace

struct Options::App {
  CLI::App cli;
};

Options::Options(std::string command, const std::string& about)
    : command_(std::move(command)), app_(std::make_unique<App>()) {
  app_->cli.description(about);
  app_->cli.name(command_);
  app_->cli.set_help_flag("-h,--help", "Print this help");
  app_->cli.get_formatter()->column_width(34);
  app_->cli.get_formatter()->label("OPTIONS", "options");
}

Options::~Options() = default;

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  app_->cli.add_flag(name, value, help)->group(group_);
}

void Options::add(const Row& row, const std::function<void(std::string)>& take) {
  const auto read = [=, this](const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      try {
        take(as_typed(value));
      } catch (const std::invalid_argument& error) {
        throw UsageError(command_, fmt::format("{}: {}", row.name, error.what()));
      }
    }
    return true;
  };
  CLI::Option* option = app_->cli.add_option(row.name, read, row.help);
  option->group(group_)->type_name(row.type)->expected(1);
  if (row.is_repeated) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

template <typename T>
void Options::add_number(const Row& row, std::optional<T>& value, Range range) {
  add(row, [&value, range](const std::string& text) { value = parse_number<T>(text, range); });
}

void Options::value(const std::string& name, std::optional<std::string>& value,
                    const std::string& help) {
  add({.name = name, .type = "TEXT", .help = help}, [&value](std::string text) {
    if (text.empty()) throw std::invalid_argument("the text is empty");
    value = std::move(text);
  });
}

void Options::value(const std::string& name, std::optional<int64_t>& value, const std::string& help,
                    Range range) {
  add_number({.name = name, .type = "N", .help = help}, value, range);
}

void Options::value(const std::string& name, std::optional<int32_t>& value,
                    const std::string& help) {
  add_number({.name = name, .type = "N", .help = help}, value, {});
}

void Options::value(const std::string& name, std::optional<uint64_t>& value,
                    const std::string& help) {
  add_number({.name = name, .type = "N", .help = help}, value, {});
}

void Options::value(const std::string& name, std::optional<float>& value, const std::string& help) {
  add_number({.name = name, .type = "X", .help = help}, value, {});
}

void Options::repeated(const std::string& name, std::vector<std::string>& values,
                       const std::string& help) {
  add({.name = name, .type = "TEXT", .help = help, .is_repeated = true},
      [&values](std::string text) {
        if (text.empty()) throw std::invalid_argument("the text is empty");
        values.push_back(std::move(text));
      });
}

void Options::words(const std::string& name, std::vector<std::string>& words,
                    const std::string& help) {
  has_words_ = true;
  const auto read = [&words](const std::vector<std::string>& values) {
    std::transform(values.begin(), values.end(), std::back_inserter(words), as_typed);
    return true;
  };
  app_->cli.add_option(name, read, help)
      ->type_name("")
      ->expected(CLI::detail::expected_max_vector_size);
}

// CLI11 has both rules as well, but writes them into the help between an option and its
// explanation.
void Options::excludes(const std::string& name, const std::string& other) {
  excluded_.emplace_back(name, other);
}

void Options::needs(const std::string& name, const std::string& other) {
  needed_.emplace_back(name, other);
}

void Options::check_pairs() const {
  for (const auto& [name, other] : excluded_) {
    if (app_->cli.count(name) == 0 || app_->cli.count(other) == 0) continue;
    throw UsageError(command_, fmt::format("{} and {} exclude each other", name, other));
  }
  for (const auto& [name, other] : needed_) {
    if (app_->cli.count(name) == 0 || app_->cli.count(other) > 0) continue;
    throw UsageError(command_, fmt::format("{} has no effect without {}", name, other));
  }
}

void Options::refuse_rest() const {
  const std::string first = as_typed(app_->cli.remaining().front());
  if (!first.starts_with('-')) {
    throw UsageError(command_, fmt::format("'{}' is one word too many", first));
  }
  throw UsageError(command_,
                   fmt::format("unknown option '{}'{}", first,
                               has_words_ ? "; a text that begins with - goes behind --" : ""));
}

bool Options::parse(std::span<const std::string> arguments) {
  std::vector<std::string> reversed;  // as CLI11 wants it
  std::transform(arguments.rbegin(), arguments.rend(), std::back_inserter(reversed), guarded);
  try {
    app_->cli.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::string help = app_->cli.help();
    for (size_t at = 0; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
    print(help);
    return false;
  } catch (const CLI::ExtrasError&) {
    refuse_rest();
  } catch (const CLI::ParseError& error) {
    throw UsageError(command_, error.what());
  }
  check_pairs();
  return true;
}

}  // namespace ft
