// Reading proc, sysfs and control groups. What is malformed counts as absent: the kernel's own
// limits hold in any case.
#include "base/system_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace ft {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr int kMaxId = 65535;

/// Cuts the text in front of the first `separator` off `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return head;
}

bool has_controller(std::string_view list, std::string_view controller) {
  while (!list.empty()) {
    if (take_until(list, ',') == controller) return true;
  }
  return false;
}

/// `mount` + `path`, then the parents of it up to `mount`. A path that leaves the mount ("/../x")
/// is `mount` alone.
void add_path_and_parents(const std::string& mount, std::string_view path,
                          std::vector<std::string>& folders) {
  const bool leaves = path.find("..") != std::string_view::npos;
  while (!leaves && path.size() > 1) {
    folders.push_back(mount + std::string(path));
    path = path.substr(0, path.rfind('/'));
  }
  folders.push_back(mount);
}

}  // namespace

std::optional<std::string> read_system_file(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while (text.size() < kMaxFileBytes && (n = read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  if (n < 0) return std::nullopt;
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::optional<uint64_t> parse_system_number(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::vector<int>> parse_id_list(std::string_view text) {
  std::vector<int> ids;
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const bool is_range = range.find('-') != std::string_view::npos;
    const auto first = parse_system_number(take_until(range, '-'));
    const auto last = is_range ? parse_system_number(range) : first;
    if (!first || !last || *first > *last || *last > kMaxId) return std::nullopt;
    if (ids.size() > kMaxId) return std::nullopt;  // the same range again and again
    for (uint64_t id = *first; id <= *last; ++id) ids.push_back(static_cast<int>(id));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::optional<uint64_t> find_system_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.empty() || (line[0] != ' ' && line[0] != '\t')) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return parse_system_number(take_until(line, ' '));
  }
  return std::nullopt;
}

CgroupFolders cgroup_folders(const std::string& root, std::string_view controller) {
  const std::string top = root + "/sys/fs/cgroup";
  CgroupFolders folders;
  const std::string text = read_system_file(root + "/proc/self/cgroup").value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view path = take_until(rest, '\n');  // "4:cpu,cpuacct:/a/b", for v2 "0::/a/b"
    const std::string_view id = take_until(path, ':');
    const std::string_view controllers = take_until(path, ':');
    if (path.empty() || path[0] != '/') continue;
    if (id == "0" && controllers.empty()) {
      add_path_and_parents(top, path, folders.v2);
      add_path_and_parents(top + "/unified", path, folders.v2);  // where v1 and v2 share a machine
    } else if (has_controller(controllers, controller)) {
      add_path_and_parents(top + "/" + std::string(controllers), path, folders.v1);
      if (controllers != controller) {
        add_path_and_parents(top + "/" + std::string(controller), path, folders.v1);
      }
    }
  }
  return folders;
}

}  // namespace ft
