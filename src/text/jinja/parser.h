// Tokens to a tree.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"

namespace ft::jinja {

/// Errors: kBadInput with line and column for text that is not a template; kUnsupported for
/// include, import, extends, block, autoescape and recursive loops.
Body parse_template(std::string_view source, std::string_view where);

}  // namespace ft::jinja
