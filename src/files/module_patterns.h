// Lists of modules as quantisation settings write them: plain names, globs and regular expressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

/// A module's name is a path such as "model.layers.0.mlp.gate". Patterns are of three kinds:
/// - a plain name ("lm_head", "mlp.gate", "model.layers.0.self_attn") matches where it is a run of
///   whole components, so it covers the module of that name and all that lies below;
/// - a glob with * and ? ("*self_attn*", "model.layers.*.self_attn") matches a whole path, or one
///   that lies above;
/// - "re:" and a regular expression matches from the start of the path, as Python's re.match does.
class ModulePatterns {
 public:
  ModulePatterns();  // matches nothing

  /// Errors: kUnsupported, with `where`, for a pattern that cannot be read or that could take
  /// unbounded time.
  ModulePatterns(const std::vector<std::string>& patterns, const std::string& where);

  bool match(std::string_view path) const;
  bool empty() const;

 private:
  struct Rules;
  std::shared_ptr<const Rules> rules_;
};

}  // namespace ft
