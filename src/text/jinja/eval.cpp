// Statements: what prints, branches, loops and names things.
#include "text/jinja/eval.h"

#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/loop.h"

namespace ft::jinja {

namespace {

// A macro, or the body of a call block. It keeps the names around its definition.
struct Macro : Callable {
  Macro(const MacroBody& body_in, ScopePtr scope_in) : body(body_in), scope(std::move(scope_in)) {}
  std::string_view name() const override { return body.name; }
  Value call(Evaluator& evaluator, Args args) const override {
    return evaluator.call_macro(body, scope, std::move(args));
  }
  const MacroBody& body;
  ScopePtr scope;
};

ScopePtr inside(const ScopePtr& parent) {
  return std::make_shared<Scope>(Scope{parent, {}});
}

}  // namespace

Evaluator::Evaluator(Run& run, const Dict& variables) : run_(run), root_(inside(nullptr)) {
  for (const auto& [key, value] : variables.entries()) root_->names[key.text()->bytes()] = value;
}

TextRef Evaluator::render(const Body& body) {
  return render_inner(body, root_);
}

Evaluator::Flow Evaluator::run_body(const Body& body, const ScopePtr& scope, TextBuilder& out) {
  Deeper deeper(run_);
  for (const Statement& statement : body) {
    run_.charge(1);
    run_.line = statement.line;
    Flow flow =
        std::visit([&](const auto& node) { return execute(node, scope, out); }, statement.what);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::run_inner(const Body& body, const ScopePtr& scope, TextBuilder& out) {
  return run_body(body, inside(scope), out);
}

TextRef Evaluator::render_inner(const Body& body, const ScopePtr& scope) {
  TextBuilder out(run_);
  run_inner(body, scope, out);
  return out.finish();
}

Evaluator::Flow Evaluator::execute(const Data& node, const ScopePtr&, TextBuilder& out) {
  out.append(*node.text);
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const Output& node, const ScopePtr& scope, TextBuilder& out) {
  out.append(*to_text(run_, evaluate(*node.value, scope)));
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const If& node, const ScopePtr& scope, TextBuilder& out) {
  for (const auto& [test, body] : node.branches) {
    if (is_true(evaluate(*test, scope))) return run_body(body, scope, out);
  }
  return run_body(node.otherwise, scope, out);
}

Loop* Evaluator::open_loop(const For& node, const ScopePtr& scope) {
  Loop::Filter filter;
  if (node.filter) {
    filter = [this, &node, scope](const Value& item) {
      ScopePtr own = inside(scope);
      assign(node.target, item, own);
      return is_true(evaluate(*node.filter, own));
    };
  }
  return run_.make<Loop>(run_, evaluate(*node.items, scope), std::move(filter));
}

Evaluator::Flow Evaluator::execute(const For& node, const ScopePtr& scope, TextBuilder& out) {
  Loop* loop = open_loop(node, scope);
  bool is_empty = true;
  while (loop->advance()) {
    is_empty = false;
    ScopePtr own = inside(scope);
    own->names["loop"] = loop;
    assign(node.target, loop->item(), own);
    if (run_body(node.body, own, out) == Flow::kBreak) break;
  }
  return is_empty ? run_inner(node.otherwise, scope, out) : Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const Break&, const ScopePtr&, TextBuilder&) {
  return Flow::kBreak;
}

Evaluator::Flow Evaluator::execute(const Continue&, const ScopePtr&, TextBuilder&) {
  return Flow::kContinue;
}

Evaluator::Flow Evaluator::execute(const Set& node, const ScopePtr& scope, TextBuilder&) {
  assign(node.target, evaluate(*node.value, scope), scope);
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const SetBlock& node, const ScopePtr& scope, TextBuilder&) {
  Value value = render_inner(node.body, scope);
  for (const Step& filter : node.filters) value = apply(filter, std::move(value), scope);
  assign(node.target, std::move(value), scope);
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const MacroBody& node, const ScopePtr& scope, TextBuilder&) {
  scope->names[node.name] = static_cast<const Callable*>(run_.make<Macro>(node, scope));
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const CallBlock& node, const ScopePtr& scope, TextBuilder& out) {
  const auto& postfix = std::get<Postfix>(node.call->what);
  Value callee = evaluate(*postfix.base, scope);
  for (size_t i = 0; i + 1 < postfix.steps.size(); ++i) {
    callee = apply(postfix.steps[i], std::move(callee), scope);
  }
  Args args = evaluate_args(std::get<CallStep>(postfix.steps.back().what).args, scope);
  add_named(args, "caller", static_cast<const Callable*>(run_.make<Macro>(node.caller, scope)));
  out.append(*to_text(run_, call(callee, std::move(args))));
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const FilterBlock& node, const ScopePtr& scope,
                                   TextBuilder& out) {
  Value value = render_inner(node.body, scope);
  for (const Step& filter : node.filters) value = apply(filter, std::move(value), scope);
  out.append(*to_text(run_, value));
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const With& node, const ScopePtr& scope, TextBuilder& out) {
  ScopePtr own = inside(scope);
  for (const auto& [target, value] : node.names) assign(target, evaluate(*value, scope), own);
  return run_body(node.body, own, out);
}

Evaluator::Flow Evaluator::execute(const Scoped& node, const ScopePtr& scope, TextBuilder& out) {
  return run_inner(node.body, scope, out);
}

void Evaluator::assign(const Target& target, Value value, const ScopePtr& scope) {
  if (target.kind == Target::Kind::kName) {
    scope->names[target.name] = std::move(value);
    return;
  }
  if (target.kind == Target::Kind::kAttribute) {
    Value holder = look_up(target.name, scope);
    auto space = holder.get<Namespace*>();
    if (!space) {
      run_.fault("'{}.{}' cannot be set: '{}' is not a namespace", target.name, target.attribute,
                 target.name);
    }
    (*space)->names.set(run_, made(run_, target.attribute), std::move(value));
    return;
  }
  Items items(run_, value);
  size_t n = 0;
  while (auto item = items.next()) {
    if (n < target.items.size()) assign(target.items[n], std::move(*item), scope);
    if (++n > target.items.size()) break;
  }
  if (n != target.items.size()) {
    run_.fault("{} names cannot take {} {} values", target.items.size(),
               n > target.items.size() ? "more than" : "only", std::min(n, target.items.size()));
  }
}

Value Evaluator::call(const Value& callee, Args args) {
  if (auto undefined = callee.get<Undefined>()) fault_undefined(run_, *undefined);
  auto function = callee.get<const Callable*>();
  if (!function) run_.fault("a value of type {} cannot be called", type_name(callee));
  Deeper deeper(run_);
  return (*function)->call(*this, std::move(args));
}

void Evaluator::bind_macro(const MacroBody& macro, Args args, const ScopePtr& scope) {
  size_t n_given = args.positional.size();
  bool has_caller = false;
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const auto& [name, otherwise] = macro.parameters[i];
    has_caller = has_caller || name == "caller";
    std::optional<Value> value;
    if (i < n_given) {
      value = std::move(args.positional[i]);
    } else {
      value = take_named(args, name);
    }
    if (!value) value = otherwise ? evaluate(*otherwise, scope) : Value(Undefined{name});
    scope->names[name] = std::move(*value);
  }
  if (macro.uses_caller && !has_caller) {
    auto caller = take_named(args, "caller");
    scope->names["caller"] = caller ? std::move(*caller) : Value(Undefined{"caller"});
  }
  if (macro.uses_kwargs) {
    Dict* rest = run_.make<Dict>();
    for (auto& [name, value] : args.named) rest->set(run_, made(run_, name), std::move(value));
    scope->names["kwargs"] = static_cast<const Dict*>(rest);
  } else if (!args.named.empty()) {
    run_.fault("macro '{}' has no argument '{}'", macro.name, args.named.front().first);
  }
  std::vector<Value> more;
  for (size_t i = macro.parameters.size(); i < n_given; ++i) more.push_back(args.positional[i]);
  if (!macro.uses_varargs && !more.empty()) {
    run_.fault("macro '{}' takes at most {} arguments", macro.name, macro.parameters.size());
  }
  if (macro.uses_varargs) {
    scope->names["varargs"] = make_list(run_, std::move(more), ListKind::kTuple);
  }
}

TextRef Evaluator::call_macro(const MacroBody& macro, const ScopePtr& scope, Args args) {
  ScopePtr own = inside(scope);
  bind_macro(macro, std::move(args), own);
  TextBuilder out(run_);
  run_body(macro.body, own, out);
  return out.finish();
}

}  // namespace ft::jinja
