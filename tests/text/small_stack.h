// Work on a thread whose stack is as small as a server would give it.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace ft {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// Sanitizers pad every frame.
inline constexpr size_t kSmallStackBytes = kIsSanitized ? 2 << 20 : 256 << 10;

inline void run_on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstacksize(&attributes, kSmallStackBytes) != 0 ||
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) != 0) {
    throw std::runtime_error("cannot start a thread with a small stack");
  }
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace ft
