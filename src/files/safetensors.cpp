// The header is parsed as a stream of JSON events, so a hostile one costs no recursion and no tree.
#include "files/safetensors.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/printable.h"

namespace ft {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxRank = 32;

/// Receives the parser's events. The header has a fixed shape, so a place in it is one of six.
class HeaderEvents {
 public:
  HeaderEvents(std::span<const std::byte> data, const std::string& where)
      : data_(data), where_(where) {}

  std::vector<TensorEntry> take() { return std::move(entries_); }

  bool null() { refuse("null"); }
  bool boolean(bool) { refuse("a truth value"); }
  bool binary(nlohmann::json::binary_t&) { refuse("binary data"); }
  bool number_float(double, const std::string& text) { refuse(fmt::format("{:.40}", text)); }
  bool number_integer(int64_t value) { refuse(fmt::format("{}", value)); }
  bool number_unsigned(uint64_t value);
  bool string(std::string& value);
  bool start_object(size_t);
  bool key(std::string& name);
  bool end_object();
  bool start_array(size_t);
  bool end_array();
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    bad_input("{}: the header is not valid JSON at byte {}: {}", where_, position,
              printable(error.what()));
  }

 private:
  enum class Place { kStart, kFile, kMetadata, kTensor, kShape, kOffsets };

  template <typename... Args>
  [[noreturn]] void bad_tensor(fmt::format_string<Args...> text, Args&&... args) const {
    bad_input("{}: tensor '{}': {}", where_, printable(name_),
              fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void refuse(const std::string& found) const;
  void finish_tensor();

  std::span<const std::byte> data_;
  const std::string& where_;
  Place place_ = Place::kStart;
  std::vector<TensorEntry> entries_;
  bool has_metadata_ = false;
  // The tensor that is being read:
  std::string name_;
  std::string member_;
  std::optional<DType> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
};

void HeaderEvents::refuse(const std::string& found) const {
  switch (place_) {
    case Place::kStart:
      bad_input("{}: the header must be one JSON object, found {}", where_, found);
    case Place::kFile:
      bad_tensor("expected an object with dtype, shape and data_offsets, found {}", found);
    case Place::kMetadata:
      bad_input("{}: __metadata__ may hold only strings, found {}", where_, found);
    case Place::kTensor:
      bad_tensor("{} must be {}, found {}", member_,
                 member_ == "dtype" ? "a string" : "a list of integers", found);
    case Place::kShape:
      bad_tensor("shape must hold integers from 0 to 2^63 - 1, found {}", found);
    case Place::kOffsets:
      bad_tensor("data_offsets must hold integers from 0 to 2^64 - 1, found {}", found);
  }
  FT_CHECK(false, "a place without a message");
}

bool HeaderEvents::number_unsigned(uint64_t value) {
  if (place_ == Place::kShape) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      refuse(fmt::format("{}", value));
    }
    if (shape_->size() == kMaxRank) {
      bad_tensor("shape has more than {} dimensions", kMaxRank);
    }
    shape_->push_back(static_cast<int64_t>(value));
  } else if (place_ == Place::kOffsets) {
    if (offsets_->size() == 2) {
      bad_tensor("data_offsets has more than 2 numbers");
    }
    offsets_->push_back(value);
  } else {
    refuse(fmt::format("the number {}", value));
  }
  return true;
}

bool HeaderEvents::string(std::string& value) {
  if (place_ == Place::kMetadata) return true;
  if (place_ != Place::kTensor || member_ != "dtype") {
    refuse(fmt::format("the string \"{}\"", printable(value)));
  }
  dtype_ = dtype_named(value);
  if (!dtype_) {
    unsupported(
        "{}: tensor '{}': element type \"{}\" is not known; known are F64, F32, F16, BF16, "
        "F8_E4M3, F8_E5M2, F8_E8M0, BOOL and the integers I8 to I64 and U8 to U64",
        where_, printable(name_), printable(value));
  }
  return true;
}

bool HeaderEvents::start_object(size_t) {
  if (place_ == Place::kStart) {
    place_ = Place::kFile;
  } else if (place_ == Place::kFile && name_ == "__metadata__") {
    if (has_metadata_) bad_input("{}: the header has two __metadata__ objects", where_);
    has_metadata_ = true;
    place_ = Place::kMetadata;
  } else if (place_ == Place::kFile) {
    place_ = Place::kTensor;
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
  } else {
    refuse("an object");
  }
  return true;
}

bool HeaderEvents::key(std::string& name) {
  if (place_ == Place::kFile) {
    if (name.size() > kMaxNameBytes) {
      bad_input("{}: tensor '{}': a name may have at most {} bytes", where_, printable(name),
                kMaxNameBytes);
    }
    name_ = name;
  } else if (place_ == Place::kTensor) {
    const bool is_second = (name == "dtype" && dtype_) || (name == "shape" && shape_) ||
                           (name == "data_offsets" && offsets_);
    if (is_second) {
      bad_tensor("it has two members \"{}\"", name);
    }
    if (name != "dtype" && name != "shape" && name != "data_offsets") {
      bad_tensor("it has a member \"{}\"; the format knows dtype, shape and data_offsets",
                 printable(name));
    }
    member_ = name;
  }
  return true;
}

bool HeaderEvents::end_object() {
  if (place_ == Place::kTensor) finish_tensor();
  place_ = Place::kFile;
  return true;
}

bool HeaderEvents::start_array(size_t) {
  if (place_ == Place::kTensor && member_ == "shape") {
    place_ = Place::kShape;
    shape_.emplace();
  } else if (place_ == Place::kTensor && member_ == "data_offsets") {
    place_ = Place::kOffsets;
    offsets_.emplace();
  } else {
    refuse("a list");
  }
  return true;
}

bool HeaderEvents::end_array() {
  place_ = Place::kTensor;
  return true;
}

/// Bytes of a tensor, or nothing if they do not fit in 64 bits. Zero extents do not hide an
/// overflow of the others.
std::optional<uint64_t> n_bytes_of(const std::vector<int64_t>& shape, DType dtype) {
  std::optional<uint64_t> n_bytes = size_of(dtype);
  bool is_empty = false;
  for (const int64_t extent : shape) {
    if (extent == 0) {
      is_empty = true;
    } else {
      n_bytes = checked_mul(*n_bytes, static_cast<uint64_t>(extent));
      if (!n_bytes) return std::nullopt;
    }
  }
  return is_empty ? std::optional<uint64_t>(0) : n_bytes;
}

void HeaderEvents::finish_tensor() {
  if (!dtype_) bad_tensor("it has no dtype");
  if (!shape_) bad_tensor("it has no shape");
  if (!offsets_) bad_tensor("it has no data_offsets");
  if (offsets_->size() != 2) {
    bad_tensor("data_offsets has {} numbers, expected begin and end", offsets_->size());
  }
  const uint64_t begin = (*offsets_)[0];
  const uint64_t end = (*offsets_)[1];
  if (begin > end) bad_tensor("data_offsets [{}, {}] run backwards", begin, end);
  const std::optional<uint64_t> n_bytes = n_bytes_of(*shape_, *dtype_);
  if (!n_bytes) {
    bad_tensor("shape [{}] of {} needs more than 2^64 bytes", fmt::join(*shape_, ", "),
               name_of(*dtype_));
  }
  if (*n_bytes != end - begin) {
    bad_tensor("shape [{}] of {} needs {} bytes, but data_offsets [{}, {}] span {}",
               fmt::join(*shape_, ", "), name_of(*dtype_), *n_bytes, begin, end, end - begin);
  }
  if (end > data_.size()) {
    bad_tensor(
        "its data ends at byte {}, but the file holds {} bytes of data; it was cut short or is "
        "damaged: fetch it again",
        end, data_.size());
  }
  entries_.push_back({name_, *dtype_, *std::move(shape_), data_.data() + begin, *n_bytes, where_});
}

void refuse_duplicates(const std::vector<TensorEntry>& entries, const std::string& where) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const TensorEntry& entry : entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) {
    bad_input("{}: the header names tensor '{}' twice", where, printable(*twin));
  }
}

/// The tensors in order of their bytes must cover the data from its first byte to its last.
void require_cover(const std::vector<TensorEntry>& entries, std::span<const std::byte> data,
                   const std::string& where) {
  std::vector<const TensorEntry*> order;
  order.reserve(entries.size());
  for (const TensorEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->data, a->n_bytes) < std::pair(b->data, b->n_bytes);
  });
  uint64_t covered = 0;
  const TensorEntry* before = nullptr;
  for (const TensorEntry* entry : order) {
    const auto begin = static_cast<uint64_t>(entry->data - data.data());
    if (begin < covered) {
      bad_input("{}: tensor '{}' begins at byte {} of the data, inside tensor '{}' that ends at {}",
                where, printable(entry->name), begin, printable(before->name), covered);
    }
    if (begin > covered) {
      bad_input("{}: bytes {} to {} of the data, before tensor '{}', belong to no tensor", where,
                covered, begin, printable(entry->name));
    }
    covered = begin + entry->n_bytes;
    before = entry;
  }
  if (covered != data.size()) {
    bad_input("{}: the data has {} bytes, but its tensors end at byte {}; {} bytes are left over",
              where, data.size(), covered, data.size() - covered);
  }
}

/// What a clone without Git LFS holds in place of the file.
bool is_lfs_pointer(std::span<const std::byte> file) {
  constexpr std::string_view kStart = "version https://git-lfs";
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size())
      .starts_with(kStart);
}

/// The JSON text of the header, its length checked against the file.
std::string_view header_of(std::span<const std::byte> file, const std::string& where) {
  if (file.size() < kLengthBytes) {
    bad_input("{}: {} bytes are not a safetensors file, which starts with a length of {} bytes",
              where, file.size(), kLengthBytes);
  }
  if (is_lfs_pointer(file)) {
    bad_input("{}: a Git LFS pointer, not the file itself: run `git lfs pull`", where);
  }
  uint64_t n_header = 0;
  for (uint64_t i = 0; i < kLengthBytes; ++i) {
    n_header |= std::to_integer<uint64_t>(file[i]) << (8 * i);
  }
  if (n_header > kMaxHeaderBytes) {
    bad_input("{}: not a safetensors file: header length {} is above the format's limit of {}",
              where, n_header, kMaxHeaderBytes);
  }
  if (n_header > file.size() - kLengthBytes) {
    bad_input(
        "{}: header length {}, but only {} bytes follow; the file was cut short or is damaged: "
        "fetch it again",
        where, n_header, file.size() - kLengthBytes);
  }
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                                n_header);
  if (header.empty() || header.front() != '{') {
    bad_input("{}: not a safetensors file: its header of {} bytes does not start with '{{'", where,
              n_header);
  }
  // The JSON parser takes a zero byte for the end of its input.
  if (const size_t zero = header.find('\0'); zero != std::string_view::npos) {
    bad_input("{}: the header has a zero byte at {}", where, zero);
  }
  return header;
}

}  // namespace

std::vector<TensorEntry> read_safetensors(std::span<const std::byte> file,
                                          const std::string& where) {
  const std::string_view header = header_of(file, where);
  const std::span<const std::byte> data = file.subspan(kLengthBytes + header.size());
  HeaderEvents events(data, where);
  nlohmann::json::sax_parse(header, &events);
  std::vector<TensorEntry> entries = events.take();
  refuse_duplicates(entries, where);
  require_cover(entries, data, where);
  return entries;
}

}  // namespace ft
