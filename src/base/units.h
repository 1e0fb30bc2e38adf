// Numbers for people: bytes with a unit (GB = 10^9 bytes), and thousands set apart.
#pragma once

#include <cstdint>
#include <string>

namespace ft {

/// "0 bytes", "999 bytes", "12.3 kB", "12.3 MB", "61.4 GB": three figures above a kilobyte, "1234
/// GB" above a terabyte.
std::string format_bytes(uint64_t n_bytes);

/// "1,234,567".
std::string format_count(int64_t n);

/// "0.4 s", "28 s", "3 min 20 s", "2 h 5 min".
std::string format_seconds(double seconds);

}  // namespace ft
