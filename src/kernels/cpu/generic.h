// What the generic kernels need; included by the instruction-set units before they open their
// namespaces.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/team.h"
#include "device/arena.h"
#include "kernels/ops.h"
