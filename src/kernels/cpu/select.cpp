#include "kernels/cpu/select.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/printable.h"
#include "kernels/ops.h"

namespace ft {

namespace cpu_scalar {
const Ops& ops(bool exact);
}
namespace cpu_avx2 {
const Ops& ops(bool exact);
}
namespace cpu_avx_vnni {
const Ops& ops(bool exact);
}
namespace cpu_avx512 {
const Ops& ops(bool exact);
}
namespace cpu_avx512_vnni {
const Ops& ops(bool exact);
}
namespace cpu_avx512_bf16 {
const Ops& ops(bool exact);
}
namespace cpu_amx {
const Ops& ops(bool exact);
}

namespace {

struct Isa {
  std::string_view name;
  bool (*is_possible)();  // by CPU and operating system
  const Ops& (*ops)(bool exact);
};

/// clang 14 has no __builtin_cpu_supports("f16c"). Where AVX2 is, the system keeps its registers.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) == 1 && (c & bit_F16C) != 0;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2") && has_f16c();
}

/// Not among the names of __builtin_cpu_supports: leaf 7, second part, EAX bit 4.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) == 1 && (a & 1u << 4) != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

/// Not among the names of __builtin_cpu_supports in clang 14: leaf 7, second part, EAX bit 5.
bool has_avx512_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_avx512_vnni() && __get_cpuid_count(7, 1, &a, &b, &c, &d) == 1 && (a & 1u << 5) != 0;
}

/// Leaf 7, EDX bits 24, 25, 22: tiles, int8, bf16.
bool has_tiles() {
  constexpr unsigned kAll = 1u << 24 | 1u << 25 | 1u << 22;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 && (d & kAll) == kAll;
}

/// Linux lends tiles to a process that asks: it has to keep 8 KB more for each thread. Asking again
/// changes nothing.
bool may_use_tiles() {
  constexpr int kAskForState = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

bool has_amx() {
  return has_avx512_bf16() && has_tiles() && may_use_tiles();
}

// Best first. What is asked for is what cmake/isa.cmake compiles with.
const std::array<Isa, 7> kIsas = {{
    {"amx", has_amx, cpu_amx::ops},
    {"avx512_bf16", has_avx512_bf16, cpu_avx512_bf16::ops},
    {"avx512_vnni", has_avx512_vnni, cpu_avx512_vnni::ops},
    {"avx512", has_avx512, cpu_avx512::ops},
    {"avx_vnni", has_avx_vnni, cpu_avx_vnni::ops},
    {"avx2", has_avx2, cpu_avx2::ops},
    {"scalar", [] { return true; }, cpu_scalar::ops},
}};

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : kIsas) {
    if (isa.is_possible()) names.emplace_back(isa.name);
  }
  return names;
}

std::string isa_note() {
  if (!has_avx512_bf16() || !has_tiles() || may_use_tiles()) return {};
  return "amx: the processor has it, but this system does not lend its tiles (Linux 5.16 and newer "
         "do)";
}

const Ops& cpu_ops(std::string_view isa, bool exact) {
  const char* variable = std::getenv("FT_ISA");
  const bool is_forced = isa == "auto" && variable != nullptr && *variable != '\0';
  const std::string_view wanted = is_forced ? variable : isa;
  for (const Isa& row : kIsas) {
    if ((wanted == "auto" || wanted == row.name) && row.is_possible()) return row.ops(exact);
  }
  bad_input("instruction set '{}'{} is not possible here; this machine and this build can run: {}",
            printable(wanted), is_forced ? " (from the environment's FT_ISA)" : "",
            fmt::join(available_isas(), ", "));
}

}  // namespace ft
