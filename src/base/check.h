// FT_CHECK is for our own bugs: it prints and aborts, in every build. No file, prompt or request
// may reach one.
#pragma once

namespace ft {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* text);

}  // namespace ft

#define FT_CHECK(condition, text)                               \
  do {                                                          \
    if (!(condition)) [[unlikely]] {                            \
      ::ft::check_failed(__FILE__, __LINE__, #condition, text); \
    }                                                           \
  } while (false)
