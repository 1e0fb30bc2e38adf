// The messages of a rendering that cannot go on.
#include "text/jinja/run.h"

namespace ft::jinja {

void Run::raise(ErrorKind kind, const std::string& text) const {
  throw Error(kind, fmt::format("{}:{}: {}", where_, line, text));
}

void Run::out_of_steps() const {
  fault("the template takes more than {} steps; it loops too long or its strings grow too large",
        limits_.n_steps);
}

void Run::too_deep() const {
  fault("the template nests or recurses deeper than {} levels", limits_.n_depth);
}

}  // namespace ft::jinja
