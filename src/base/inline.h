// Functions that instruction-set units share with others must never become code of their own: a
// copy compiled with wide instructions could be linked into a unit that may not use them.
#pragma once

#ifndef FT_HD
#define FT_HD  // the build defines it as __host__ __device__ for .cu files
#endif
#define FT_INLINE FT_HD __attribute__((always_inline)) inline
