// Asks python3-jinja2, set up as the transformers library does it, what templates render to.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/segment.h"

namespace ft {

using Json = nlohmann::ordered_json;

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string joined(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& segment : segments) text += segment.text;
  return text;
}

/// A folder of its own that goes when it goes out of scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ft_template_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

/// tests/oracle/render_templates.py says what a request and a reply are.
inline Json ask_jinja2(const Json& request) {
  TemporaryFolder folder;
  folder.write("request.json", request.dump());
  std::string script = std::string(FT_SOURCE_DIR) + "/tests/oracle/render_templates.py";
  std::string reply = (folder.path() / "reply.json").string();
  std::string command = "/usr/bin/python3 '" + script + "' '" +
                        (folder.path() / "request.json").string() + "' '" + reply + "'";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("the oracle failed; it needs the package python3-jinja2: " + command);
  }
  return Json::parse(read_file(reply));
}

}  // namespace ft
