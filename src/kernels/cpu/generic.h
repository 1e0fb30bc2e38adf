// What the generic kernels need; included by the instruction-set units before they open their
// namespaces.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/team.h"
#include "device/arena.h"
#include "kernels/attention_cut.h"
#include "kernels/ops.h"
