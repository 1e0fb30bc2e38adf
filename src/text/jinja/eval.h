// Runs a parsed template.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "text/jinja/ast.h"

namespace ft::jinja {

/// Names and their values. A macro keeps the scope that it was defined in.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::map<std::string_view, Value> names;
};
using ScopePtr = std::shared_ptr<Scope>;

class Evaluator {
 public:
  /// The names of `variables` are what the template sees beside the built-in functions. All must
  /// outlive the evaluator.
  Evaluator(Run& run, const Dict& variables);

  /// Errors: kBadInput, kUnsupported with the line.
  TextRef render(const Body& body);

  Value call(const Value& callee, Args args);
  TextRef call_macro(const MacroBody& macro, const ScopePtr& scope, Args args);
  Run& run() { return run_; }

 private:
  enum class Flow { kNext, kBreak, kContinue };

  Flow run_body(const Body& body, const ScopePtr& scope, TextBuilder& out);
  Flow run_inner(const Body& body, const ScopePtr& scope, TextBuilder& out);
  TextRef render_inner(const Body& body, const ScopePtr& scope);

  Flow execute(const Data& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Output& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const If& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const For& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Break& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Continue& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Set& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const SetBlock& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const MacroBody& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const CallBlock& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const FilterBlock& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const With& node, const ScopePtr& scope, TextBuilder& out);
  Flow execute(const Scoped& node, const ScopePtr& scope, TextBuilder& out);
  void assign(const Target& target, Value value, const ScopePtr& scope);
  Loop* open_loop(const For& node, const ScopePtr& scope);
  void bind_macro(const MacroBody& macro, Args args, const ScopePtr& scope);

  Value evaluate(const Expr& expr, const ScopePtr& scope);
  Value evaluate(const Literal& node, const ScopePtr& scope);
  Value evaluate(const NameExpr& node, const ScopePtr& scope);
  Value evaluate(const ListExpr& node, const ScopePtr& scope);
  Value evaluate(const DictExpr& node, const ScopePtr& scope);
  Value evaluate(const Unary& node, const ScopePtr& scope);
  Value evaluate(const Chain& node, const ScopePtr& scope);
  Value evaluate(const Conditional& node, const ScopePtr& scope);
  Value evaluate(const Postfix& node, const ScopePtr& scope);
  Value evaluate_logic(const Chain& node, const ScopePtr& scope);
  Value evaluate_comparison(const Chain& node, const ScopePtr& scope);
  Value evaluate_concat(const Chain& node, const ScopePtr& scope);
  bool holds(Op op, const Value& a, const Value& b);
  Value look_up(std::string_view name, const ScopePtr& scope);

  Value apply(const Step& step, Value value, const ScopePtr& scope);
  Value apply(const Attribute& step, Value value, const ScopePtr& scope);
  Value apply(const Subscript& step, Value value, const ScopePtr& scope);
  Value apply(const Slice& step, Value value, const ScopePtr& scope);
  Value apply(const CallStep& step, Value value, const ScopePtr& scope);
  Value apply(const FilterStep& step, Value value, const ScopePtr& scope);
  Value apply(const TestStep& step, Value value, const ScopePtr& scope);
  Args evaluate_args(const ArgsExpr& args, const ScopePtr& scope);
  void add_named(Args& args, std::string_view name, Value value);

  Run& run_;
  ScopePtr root_;
};

}  // namespace ft::jinja
