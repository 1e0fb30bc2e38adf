// The one error type of the project. An Error ends a load, a request or a device; its text says
// what went wrong, where (file, tensor, option, with the values) and what the reader can do about
// it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ft {

enum class ErrorKind {
  kBadInput,     // a file, a prompt or an option that is wrong
  kUnsupported,  // well formed, but not something this program can do
  kOutOfMemory,  // does not fit; the text has the sum, part by part
  kIo,           // the operating system refused a file operation
  kDevice,       // an accelerator failed
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace ft
