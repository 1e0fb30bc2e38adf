// write(2) in a loop, with the interruptions that are none.
#include "base/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace ft {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {  // another program made the terminal or pipe non-blocking
      pollfd target{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&target, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace ft
