// The tests: what may stand behind `is`.
#pragma once

#include <span>

#include "text/jinja/native.h"

namespace ft::jinja {

std::span<const Native> test_rows();

}  // namespace ft::jinja
