// The parsed template. Chains of operators of one precedence are flat, so that depth comes from
// nesting only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/value.h"

namespace ft::jinja {

struct Expr;
struct Statement;
using ExprPtr = std::unique_ptr<Expr>;
using Body = std::vector<Statement>;

// ---- expressions

struct ArgsExpr {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr list;  // *args
  ExprPtr dict;  // **kwargs
};

struct Literal {
  Value value;  // a string or a scalar
};
struct NameExpr {
  std::string name;
};
struct ListExpr {
  std::vector<ExprPtr> items;
  ListKind kind;
};
struct DictExpr {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};

enum class Op : uint8_t {
  kOr,
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
  kAdd,
  kSubtract,
  kConcat,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kPlus,
  kMinus,
};
struct Unary {
  Op op;  // kNot, kPlus, kMinus
  ExprPtr operand;
};
/// first op operand op operand ...: all of one precedence, applied from left to right (comparisons:
/// each to its neighbours).
struct Chain {
  ExprPtr first;
  std::vector<std::pair<Op, ExprPtr>> rest;
};
/// value if test else otherwise if test else otherwise ...: each condition is
/// about all that stands in front of it, so the last test is asked first.
struct Conditional {
  struct Branch {
    ExprPtr test;
    ExprPtr otherwise;  // may be null: undefined
  };
  ExprPtr value;
  std::vector<Branch> branches;
};

struct Attribute {
  std::string name;
};
struct Subscript {
  ExprPtr index;
};
struct Slice {
  ExprPtr start, stop, step;  // each may be null
};
struct CallStep {
  ArgsExpr args;
};
struct FilterStep {
  std::string name;
  ArgsExpr args;
};
struct TestStep {
  std::string name;
  ArgsExpr args;
  bool is_negated = false;
};
struct Step {
  int line;
  std::variant<Attribute, Subscript, Slice, CallStep, FilterStep, TestStep> what;
};
/// base.a[b](c)|d is e
struct Postfix {
  ExprPtr base;
  std::vector<Step> steps;
};

struct Expr {
  int line = 0;
  std::variant<Literal, NameExpr, ListExpr, DictExpr, Unary, Chain, Conditional, Postfix> what;
};

// ---- statements

struct Target {
  enum class Kind : uint8_t { kName, kAttribute, kTuple };
  Kind kind = Kind::kName;
  std::string name;
  std::string attribute;  // of the namespace `name`
  std::vector<Target> items;
};

struct Data {
  TextRef text;
};
struct Output {
  ExprPtr value;
};
struct If {
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};
struct For {
  Target target;
  ExprPtr items;
  ExprPtr filter;  // may be null
  Body body;
  Body otherwise;
};
struct Break {};
struct Continue {};
struct Set {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  std::vector<Step> filters;
  Body body;
};
struct MacroBody {
  std::string name;
  std::vector<std::pair<std::string, ExprPtr>> parameters;  // the default may be null
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
  Body body;
};
struct CallBlock {
  MacroBody caller;
  ExprPtr call;  // a Postfix that ends with a CallStep
};
struct FilterBlock {
  std::vector<Step> filters;
  Body body;
};
struct With {
  std::vector<std::pair<Target, ExprPtr>> names;
  Body body;
};
/// {% generation %}: prints its body in a scope of its own.
struct Scoped {
  Body body;
};

struct Statement {
  int line = 0;
  std::variant<Data, Output, If, For, Break, Continue, Set, SetBlock, MacroBody, CallBlock,
               FilterBlock, With, Scoped>
      what;
};

}  // namespace ft::jinja
