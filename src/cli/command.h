// The table of commands: one row and one file each.
#pragma once

#include <span>
#include <string>

#include "ft/error.h"

namespace ft {

inline constexpr const char* kVersion = "0.1.0";

struct Command {
  const char* name;
  const char* help;  // one line
  /// Arguments without the command's name. Returns the exit status. Errors: ft::Error, UsageError.
  int (*run)(std::span<const std::string> arguments);
};

std::span<const Command> commands();

/// The exit status for an Error: 2 for what the reader of its text can put right, 1 for a device
/// that failed.
int exit_status(const Error& error);

/// `ft ...`: finds the command and runs it, or answers help and --version. Same errors as
/// Command::run.
int run_program(std::span<const std::string> arguments);

int run_run(std::span<const std::string> arguments);
int run_shell(std::span<const std::string> arguments);
int run_inspect(std::span<const std::string> arguments);
int run_logits(std::span<const std::string> arguments);
int run_bench(std::span<const std::string> arguments);
int run_bench_decode(std::span<const std::string> arguments);  // `ft bench decode`
int run_bench_start(std::span<const std::string> arguments);   // `ft bench start`
int run_tokenize(std::span<const std::string> arguments);

}  // namespace ft
