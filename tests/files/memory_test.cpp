// What hostile files cost: the bytes that are allocated until they are refused.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "files/config.h"
#include "files/safetensors.h"
#include "tests/files/files_support.h"

namespace {

thread_local uint64_t n_allocated_bytes = 0;  // by this thread, ever

}  // namespace

// Not inlined, or the compiler takes the pairs of new and free for a mistake.
[[gnu::noinline]] void* operator new(size_t n_bytes) {
  n_allocated_bytes += n_bytes;
  if (void* memory = std::malloc(n_bytes > 0 ? n_bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t n_bytes, const std::nothrow_t&) noexcept {
  n_allocated_bytes += n_bytes;
  return std::malloc(n_bytes > 0 ? n_bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace ft::test {
namespace {

/// Bytes allocated until `action` has thrown its Error.
template <typename Action>
uint64_t bytes_until_error(Action&& action) {
  const uint64_t before = n_allocated_bytes;
  EXPECT_THROW(action(), Error);
  return n_allocated_bytes - before;
}

uint64_t bytes_until_refused(const std::string& file) {
  return bytes_until_error(
      [&] { read_safetensors(std::as_bytes(std::span(file)), "f.safetensors"); });
}

constexpr uint64_t kMiB = 1 << 20;

TEST(Memory, TheCounterCounts) {
  const uint64_t before = n_allocated_bytes;
  const std::string text(5000, 'x');
  EXPECT_GE(n_allocated_bytes - before, text.size());
}

TEST(Memory, DeepNestingInAHeaderNeitherRecursesNorAllocates) {
  const std::string open(5'000'000, '[');
  for (const std::string start : {R"({"a":)", R"({"a":{"shape":)", R"({"__metadata__":)"}) {
    EXPECT_LT(bytes_until_refused(safetensors(start + open)), kMiB) << start;
  }
}

TEST(Memory, HostileNumbersInAHeaderCostNothing) {
  const auto one = [](const std::string& shape, const std::string& end) {
    return safetensors(R"({"a":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[0,)" +
                       end + "]}}");
  };
  for (const std::string& file :
       {raw_safetensors(~uint64_t{0}, "{}"), raw_safetensors(99'999'999, "{}"),
        one("4294967296,4294967296", "18446744073709551615"), one("1000000000000", "4000000000000"),
        one("4611686018427387903", "18446744073709551612")}) {
    EXPECT_LT(bytes_until_refused(file), kMiB);
  }
}

TEST(Memory, AConfigOfDeepListsIsRefusedAtItsLimit) {
  const std::string text = "{\"a\":" + std::string(8'000'000, '[');
  // One copy of the text, with Python's bare words replaced, and little else.
  EXPECT_LT(bytes_until_error([&] { Config::parse(text, "config.json"); }), text.size() + kMiB);
}

}  // namespace
}  // namespace ft::test
