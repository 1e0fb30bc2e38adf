// The only file that includes CLI11.
#include "cli/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/console.h"

namespace ft {

struct Options::App {
  CLI::App cli;
  CLI::Option* last = nullptr;
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
  app_->last = app_->cli.add_flag(name, value, help)->group(group_);
}

template <typename T>
void Options::add_value(const std::string& name, T& value, const std::string& help) {
  app_->last = app_->cli.add_option(name, value, help)->group(group_);
}

void Options::value(const std::string& name, std::optional<std::string>& value,
                    const std::string& help) {
  add_value(name, value, help);
  app_->last->type_name("TEXT");
}

void Options::value(const std::string& name, std::optional<int64_t>& value,
                    const std::string& help) {
  add_value(name, value, help);
  app_->last->type_name("N");
}

void Options::value(const std::string& name, std::optional<uint64_t>& value,
                    const std::string& help) {
  add_value(name, value, help);
  app_->last->type_name("N");
  app_->last->check(CLI::Validator(
      [](const std::string& text) {  // CLI11 lets a negative number wrap around
        return text.starts_with('-') ? text + " is below 0" : std::string();
      },
      ""));
}

void Options::value(const std::string& name, std::optional<float>& value, const std::string& help) {
  add_value(name, value, help);
  app_->last->type_name("X");
}

void Options::repeated(const std::string& name, std::vector<std::string>& values,
                       const std::string& help) {
  add_value(name, values, help);
  app_->last->type_name("TEXT")->expected(1)->allow_extra_args(false);
  app_->last->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Options::words(const std::string& name, std::vector<std::string>& words,
                    const std::string& help) {
  app_->last = app_->cli.add_option(name, words, help)->type_name("");
}

void Options::range(double least, double most) {
  app_->last->check(CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is no number", text);
        if (value >= least && value <= most) return std::string();
        return fmt::format("{} is outside {} to {}", text, least, most);
      },
      ""));
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

bool Options::parse(std::span<const std::string> arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  try {
    app_->cli.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::string help = app_->cli.help();
    for (size_t at = 0; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
    print(help);
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(command_, error.what());
  }
  check_pairs();
  return true;
}

}  // namespace ft
