// The program: what a command throws becomes one line on standard error and an exit status. 0
// success; 2 something that the reader of the message can put right; 1 what he cannot: a device
// that failed, memory that ran out unforeseen, a fault of ours; 130 stopped by Ctrl-C.
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/options.h"

namespace {

/// A mapped file that loses its end while it is read is beyond any error path: the signal comes
/// from a load instruction.
void on_lost_file(int) {
  constexpr std::string_view kText =
      "ft: error: a file of the model became shorter while it was read; fetch it again\n";
  ft::print_error(kText);
  _exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGBUS, on_lost_file);
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return ft::run_program(arguments);
  } catch (const ft::UsageError& error) {
    ft::print_line(fmt::format("error: {}", error.what()));
    ft::print_error(fmt::format("`{} --help` lists what there is.\n", error.command()));
    return 2;
  } catch (const ft::Error& error) {
    ft::print_line(fmt::format("error: {}", error.what()));
    return ft::exit_status(error);
  } catch (const std::bad_alloc&) {
    ft::print_line(
        "error: this machine has no memory left for what was asked; `ft inspect` says what a "
        "model needs");
  } catch (const std::exception& error) {
    ft::print_line(fmt::format("internal error: {}; please report it", error.what()));
  }
  return 1;
}
