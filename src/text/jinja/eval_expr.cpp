// Expressions.
#include "text/jinja/access.h"
#include "text/jinja/eval.h"
#include "text/jinja/filters.h"
#include "text/jinja/ops.h"

namespace ft::jinja {

namespace {

// A function of the table, as a value.
struct NativeFunction : Callable {
  explicit NativeFunction(const Native& row_in) : row(row_in) {}
  std::string_view name() const override { return row.name; }
  Value call(Evaluator& evaluator, Args args) const override {
    NativeCall call(evaluator, row.name, Value());
    call.bind(row.parameters, std::move(args));
    return row.run(call);
  }
  const Native& row;
};

}  // namespace

Value Evaluator::evaluate(const Expr& expr, const ScopePtr& scope) {
  Deeper deeper(run_);
  run_.charge(1);
  run_.line = expr.line;
  return std::visit([&](const auto& node) { return evaluate(node, scope); }, expr.what);
}

Value Evaluator::evaluate(const Literal& node, const ScopePtr&) {
  return node.value;
}

Value Evaluator::look_up(std::string_view name, const ScopePtr& scope) {
  for (const Scope* at = scope.get(); at != nullptr; at = at->parent.get()) {
    run_.charge(1);
    auto found = at->names.find(name);
    if (found != at->names.end()) return found->second;
  }
  const Native* row = find_function(name);
  if (row == nullptr) return Undefined{name};
  Value function = static_cast<const Callable*>(run_.make<NativeFunction>(*row));
  root_->names[row->name] = function;
  return function;
}

Value Evaluator::evaluate(const NameExpr& node, const ScopePtr& scope) {
  return look_up(node.name, scope);
}

Value Evaluator::evaluate(const ListExpr& node, const ScopePtr& scope) {
  std::vector<Value> items;
  for (const ExprPtr& item : node.items) items.push_back(evaluate(*item, scope));
  return make_list(run_, std::move(items), node.kind);
}

Value Evaluator::evaluate(const DictExpr& node, const ScopePtr& scope) {
  Dict* dict = run_.make<Dict>();
  for (const auto& [key_expr, value_expr] : node.entries) {
    Value key = evaluate(*key_expr, scope);
    if (!is_hashable(key))
      run_.refuse("a dict with a key of type {} is not supported", type_name(key));
    dict->set(run_, std::move(key), evaluate(*value_expr, scope));
  }
  return static_cast<const Dict*>(dict);
}

Value Evaluator::evaluate(const Unary& node, const ScopePtr& scope) {
  Value value = evaluate(*node.operand, scope);
  if (node.op == Op::kNot) return !is_true(value);
  return signed_value(run_, node.op, value);
}

Value Evaluator::evaluate(const Conditional& node, const ScopePtr& scope) {
  for (auto branch = node.branches.rbegin(); branch != node.branches.rend(); ++branch) {
    if (is_true(evaluate(*branch->test, scope))) continue;
    return branch->otherwise ? evaluate(*branch->otherwise, scope)
                             : Value(Undefined{"an if without else"});
  }
  return evaluate(*node.value, scope);
}

Value Evaluator::evaluate(const Chain& node, const ScopePtr& scope) {
  Op op = node.rest.front().first;
  if (op == Op::kAnd || op == Op::kOr) return evaluate_logic(node, scope);
  if (op == Op::kConcat) return evaluate_concat(node, scope);
  if (op >= Op::kEqual && op <= Op::kNotIn) return evaluate_comparison(node, scope);
  Value value = evaluate(*node.first, scope);
  for (const auto& [next, operand] : node.rest) {
    value = arithmetic(run_, next, value, evaluate(*operand, scope));
  }
  return value;
}

Value Evaluator::evaluate_logic(const Chain& node, const ScopePtr& scope) {
  Value value = evaluate(*node.first, scope);
  for (const auto& [op, operand] : node.rest) {
    if (is_true(value) == (op == Op::kOr)) break;
    value = evaluate(*operand, scope);
  }
  return value;
}

Value Evaluator::evaluate_concat(const Chain& node, const ScopePtr& scope) {
  TextBuilder out(run_);
  out.append(*to_text(run_, evaluate(*node.first, scope)));
  for (const auto& [op, operand] : node.rest) {
    out.append(*to_text(run_, evaluate(*operand, scope)));
  }
  return out.finish();
}

bool Evaluator::holds(Op op, const Value& a, const Value& b) {
  auto ordered = [&](std::string_view spelling, auto accepts) {
    for (const Value* side : {&a, &b}) {
      if (auto undefined = side->get<Undefined>()) fault_undefined(run_, *undefined);
    }
    auto order = compare(run_, a, b, spelling);
    return order && accepts(*order);
  };
  switch (op) {
    case Op::kEqual:
      return equals(run_, a, b);
    case Op::kNotEqual:
      return !equals(run_, a, b);
    case Op::kIn:
      return contains(run_, b, a);
    case Op::kNotIn:
      return !contains(run_, b, a);
    case Op::kLess:
      return ordered("<", [](int order) { return order < 0; });
    case Op::kLessEqual:
      return ordered("<=", [](int order) { return order <= 0; });
    case Op::kGreater:
      return ordered(">", [](int order) { return order > 0; });
    default:
      return ordered(">=", [](int order) { return order >= 0; });
  }
}

Value Evaluator::evaluate_comparison(const Chain& node, const ScopePtr& scope) {
  Value left = evaluate(*node.first, scope);
  for (const auto& [op, operand] : node.rest) {
    Value right = evaluate(*operand, scope);
    if (!holds(op, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Evaluator::evaluate(const Postfix& node, const ScopePtr& scope) {
  Value value = evaluate(*node.base, scope);
  for (const Step& step : node.steps) value = apply(step, std::move(value), scope);
  return value;
}

Value Evaluator::apply(const Step& step, Value value, const ScopePtr& scope) {
  run_.charge(1);
  run_.line = step.line;
  return std::visit([&](const auto& what) { return apply(what, std::move(value), scope); },
                    step.what);
}

Value Evaluator::apply(const Attribute& step, Value value, const ScopePtr&) {
  auto found = get_attribute(run_, value, step.name);
  return found ? std::move(*found) : Value(Undefined{step.name, type_name(value)});
}

Value Evaluator::apply(const Subscript& step, Value value, const ScopePtr& scope) {
  Value index = evaluate(*step.index, scope);
  auto found = get_item(run_, value, index);
  if (found) return std::move(*found);
  auto literal = std::get_if<Literal>(&step.index->what);
  bool is_named = literal && literal->value.text();
  return Undefined{is_named ? literal->value.text()->bytes() : "", type_name(value)};
}

Value Evaluator::apply(const Slice& step, Value value, const ScopePtr& scope) {
  auto part = [&](const ExprPtr& expr) { return expr ? evaluate(*expr, scope) : Value(None{}); };
  Value start = part(step.start), stop = part(step.stop), stride = part(step.step);
  return get_slice(run_, value, start, stop, stride);
}

Value Evaluator::apply(const CallStep& step, Value value, const ScopePtr& scope) {
  int line = run_.line;
  Args args = evaluate_args(step.args, scope);
  run_.line = line;
  return call(value, std::move(args));
}

Value Evaluator::apply(const FilterStep& step, Value value, const ScopePtr& scope) {
  int line = run_.line;
  Args args = evaluate_args(step.args, scope);
  run_.line = line;
  return apply_filter(*this, step.name, std::move(value), std::move(args));
}

Value Evaluator::apply(const TestStep& step, Value value, const ScopePtr& scope) {
  int line = run_.line;
  Args args = evaluate_args(step.args, scope);
  run_.line = line;
  return apply_test(*this, step.name, std::move(value), std::move(args)) != step.is_negated;
}

void Evaluator::add_named(Args& args, std::string_view name, Value value) {
  run_.charge(1 + args.named.size());
  for (const auto& entry : args.named) {
    if (entry.first == name) run_.fault("the argument '{}' is given twice", name);
  }
  args.named.emplace_back(name, std::move(value));
}

Args Evaluator::evaluate_args(const ArgsExpr& node, const ScopePtr& scope) {
  Args args;
  for (const ExprPtr& expr : node.positional) args.positional.push_back(evaluate(*expr, scope));
  for (const auto& [name, expr] : node.named) add_named(args, name, evaluate(*expr, scope));
  if (node.list) {
    std::vector<Value> more = take_items(run_, evaluate(*node.list, scope));
    std::move(more.begin(), more.end(), std::back_inserter(args.positional));
  }
  if (!node.dict) return args;
  Value more = evaluate(*node.dict, scope);
  if (!more.dict()) run_.fault("'**' needs a dict, not {}", type_name(more));
  for (const auto& [key, value] : more.dict()->entries()) {
    if (!key.text()) run_.fault("'**' needs a dict whose keys are strings");
    add_named(args, key.text()->bytes(), value);
  }
  return args;
}

}  // namespace ft::jinja
