// FT_CHECK is for our own bugs: it prints and aborts, in every build. No file, prompt or request
// may reach one.
#pragma once

#include <cstdio>
#include <cstdlib>

#define FT_CHECK(condition, text)                                                                  \
  do {                                                                                             \
    if (!(condition)) [[unlikely]] {                                                               \
      std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", __FILE__, __LINE__, #condition, text); \
      std::abort();                                                                                \
    }                                                                                              \
  } while (false)
