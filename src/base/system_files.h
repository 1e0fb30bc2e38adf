// The small text files in which the kernel describes itself: proc, sysfs and control groups. Every
// function takes the root folder that has proc/ and sys/ below it, so that tests can bring a
// made-up machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

/// At most 1 MiB of a file, without the white space at its end; nothing if it cannot be read.
std::optional<std::string> read_system_file(const std::string& file);

/// A number that is all of the text; nothing for anything else, and for one that does not fit.
std::optional<uint64_t> parse_system_number(std::string_view text);

/// "0-3,8" as ascending numbers, none twice; nothing if it is malformed or has a number above
/// 65535. "" is an empty list.
std::optional<std::vector<int>> parse_id_list(std::string_view text);

/// The value behind `key` in a file of lines "key value", such as meminfo ("MemTotal:") or
/// memory.stat ("inactive_file").
std::optional<uint64_t> find_system_value(std::string_view text, std::string_view key);

/// The folders of the control groups that this process is in, its own first, then each parent up to
/// the root of the mount. Folders that do not show (a container sees only its own part) are left in
/// the list: reading below them fails harmlessly.
struct CgroupFolders {
  std::vector<std::string> v2;
  std::vector<std::string>
      v1;  // of the hierarchy that has the controller; empty where there is none
};

/// `controller` is a name of cgroup v1: "cpu", "cpuset", "memory".
CgroupFolders cgroup_folders(const std::string& root, std::string_view controller);

}  // namespace ft
