// The instruction sets of this build and this machine, and the choice of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ft {

struct Ops;

/// Names of those that this build has and this machine can run, best first; "scalar" is always
/// among them.
std::vector<std::string> available_isas();

/// Why a set that the processor has cannot be taken ("amx: ..."); "" where there is none such.
std::string isa_note();

/// The table of one set, or of the best for "auto" (environment FT_ISA stands in for "auto" where
/// it is set). `exact`: the specification, dequantised weights times float32 activations. Errors:
/// kBadInput with the list of those that are possible.
const Ops& cpu_ops(std::string_view isa, bool exact);

}  // namespace ft
