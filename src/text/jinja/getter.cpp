// Attribute paths of filters.
#include "text/jinja/getter.h"

#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/unicode.h"

namespace ft::jinja {

Getter::Getter(Run& run, const Value& attribute, std::optional<Value> otherwise)
    : run_(run), otherwise_(std::move(otherwise)) {
  if (attribute.is_none()) return;
  if (!attribute.text()) {
    parts_.push_back(attribute);
    return;
  }
  const TextRef& path = *attribute.get<TextRef>();
  for (size_t begin = 0; begin <= path->size();) {
    size_t end = std::min(path->bytes().find('.', begin), path->size());
    std::string_view part = path->bytes().substr(begin, end - begin);
    bool is_number = !part.empty() && part.size() < 18 &&
                     part.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) {
      parts_.emplace_back(int64_t{std::stoll(std::string(part))});
    } else {
      parts_.emplace_back(slice(run, path, begin, end));
    }
    begin = end + 1;
  }
}

Value Getter::operator()(const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    run_.charge(1);
    auto found = get_item(run_, value, part);
    value = found ? std::move(*found) : Value(Undefined{"", type_name(value)});
    if (otherwise_ && value.is_undefined()) value = *otherwise_;
  }
  return value;
}

Value ignore_case(Run& run, const Value& value) {
  if (!value.text()) return value;
  return with_case(run, *value.text(), Case::kLower);
}

}  // namespace ft::jinja
