// What the operators of arithmetic do, % with a string in front of it included.
#pragma once

#include "text/jinja/ast.h"

namespace ft::jinja {

/// a op b for + - * / // % **. Errors: kBadInput for types that do not go together, division by
/// zero, and integers that leave 64 bits (Python's grow).
Value arithmetic(Run& run, Op op, const Value& a, const Value& b);
/// +a, -a.
Value signed_value(Run& run, Op op, const Value& a);

/// Python's "format % values". Errors: kBadInput for too few or too many values; kUnsupported for
/// rare conversions.
TextRef percent_format(Run& run, const Text& format, const Value& values);

}  // namespace ft::jinja
