// Standard input, output and error, as a program that is part of a pipe uses them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ft {

/// The most that is read as one text.
inline constexpr size_t kMaxInputBytes = 16 << 20;

/// Writes all of it to standard output at once. Where nobody reads any more the program ends as
/// SIGPIPE would end it. Errors: kIo, such as a full disk.
void print(std::string_view text);

/// The same to standard error, where a failure changes nothing.
void print_error(std::string_view text);

/// A line "ft: TEXT" on standard error. What a model's files say may be in it: control characters
/// show as \xNN.
void print_line(std::string_view text);

/// True where a person types.
bool is_input_terminal();

/// Standard input to its end. Errors: kIo; kBadInput above kMaxInputBytes.
std::string read_input();

/// The words of the command line joined by spaces; without words standard input, unless a person
/// types there. `drops_line_end`: one line end behind the last line of standard input is not part
/// of the text. Errors: UsageError where there is neither, or nothing but an empty text; as
/// read_input().
std::string words_or_input(const std::string& command, std::span<const std::string> words,
                           bool drops_line_end);

/// Errors: kBadInput, with `what` and the offset of the byte, for text that is not UTF-8.
void check_utf8(std::string_view text, std::string_view what);

}  // namespace ft
