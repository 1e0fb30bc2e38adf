// The program: what a command throws becomes one line on standard error and an exit status. 0
// success; 2 something that the reader of the message can put right; 1 what he cannot: a device
// that failed, memory that ran out unforeseen, a fault of ours; 130 stopped by Ctrl-C.
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/options.h"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return ft::run_program(arguments);
  } catch (const ft::UsageError& error) {
    ft::print_error(fmt::format("ft: error: {}\n`{} --help` lists what there is.\n", error.what(),
                                error.command()));
    return 2;
  } catch (const ft::Error& error) {
    ft::print_error(fmt::format("ft: error: {}\n", error.what()));
    return ft::exit_status(error);
  } catch (const std::bad_alloc&) {
    ft::print_error(
        "ft: error: this machine has no memory left for what was asked; `ft inspect` says what a "
        "model needs\n");
  } catch (const std::exception& error) {
    ft::print_error(fmt::format("ft: internal error: {}; please report it\n", error.what()));
  }
  return 1;
}
