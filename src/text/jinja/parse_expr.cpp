// Expressions: precedence climbing over the operators, then what follows an operand.
#include <array>

#include "text/jinja/filters.h"
#include "text/jinja/parser_internal.h"

namespace ft::jinja {

namespace {

// From loose to tight.
enum Precedence {
  kPrecOr,
  kPrecAnd,
  kPrecNot,
  kPrecCompare,
  kPrecSum,
  kPrecConcat,
  kPrecProduct,
  kPrecPower,
  kPrecUnary
};

struct OperatorRow {
  std::string_view spelling;
  Op op;
  int precedence;
};

constexpr std::array kOperatorRows = {
    OperatorRow{"or", Op::kOr, kPrecOr},
    OperatorRow{"and", Op::kAnd, kPrecAnd},
    OperatorRow{"in", Op::kIn, kPrecCompare},
    OperatorRow{"==", Op::kEqual, kPrecCompare},
    OperatorRow{"!=", Op::kNotEqual, kPrecCompare},
    OperatorRow{"<", Op::kLess, kPrecCompare},
    OperatorRow{"<=", Op::kLessEqual, kPrecCompare},
    OperatorRow{">", Op::kGreater, kPrecCompare},
    OperatorRow{">=", Op::kGreaterEqual, kPrecCompare},
    OperatorRow{"+", Op::kAdd, kPrecSum},
    OperatorRow{"-", Op::kSubtract, kPrecSum},
    OperatorRow{"~", Op::kConcat, kPrecConcat},
    OperatorRow{"*", Op::kMultiply, kPrecProduct},
    OperatorRow{"/", Op::kDivide, kPrecProduct},
    OperatorRow{"//", Op::kFloorDivide, kPrecProduct},
    OperatorRow{"%", Op::kModulo, kPrecProduct},
    OperatorRow{"**", Op::kPower, kPrecPower},
};
constexpr OperatorRow kNotIn = {"not in", Op::kNotIn, kPrecCompare};

// The binary operator that the reader stands at, or null.
const OperatorRow* binary_operator(const TokenReader& in) {
  const Token& token = in.peek();
  if (token.is_name("not") && in.peek(1).is_name("in")) return &kNotIn;
  if (token.kind != TokenKind::kName && token.kind != TokenKind::kOperator) return nullptr;
  for (const OperatorRow& row : kOperatorRows) {
    bool is_word = row.precedence < kPrecCompare || row.op == Op::kIn;
    if (is_word == (token.kind == TokenKind::kName) && token.text == row.spelling) return &row;
  }
  return nullptr;
}

template <typename T>
ExprPtr make_expr(int line, T what) {
  return std::make_unique<Expr>(Expr{line, std::move(what)});
}

bool can_assign(const Token& token) {
  for (std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (token.text == constant) return false;
  }
  return true;
}

}  // namespace

ExprPtr ExprParser::parse_expression() {
  Nesting nesting(in_);
  size_t n_unknown = unknown_.size();
  Conditional conditional{parse_binary(kPrecOr), {}};
  int line = conditional.value->line;
  while (in_.skip_name("if")) {
    unknown_.resize(n_unknown);  // what has a condition may name what does not exist
    ++n_soft;
    ExprPtr test = parse_binary(kPrecOr);
    ExprPtr otherwise = in_.skip_name("else") ? parse_expression() : nullptr;
    --n_soft;
    conditional.branches.push_back({std::move(test), std::move(otherwise)});
  }
  if (conditional.branches.empty()) return std::move(conditional.value);
  return make_expr(line, std::move(conditional));
}

ExprPtr ExprParser::parse_without_condition() {
  Nesting nesting(in_);
  return parse_binary(kPrecOr);
}

ExprPtr ExprParser::parse_operand(int precedence) {
  if (precedence <= kPrecNot && in_.peek().is_name("not")) {
    Nesting nesting(in_);
    int line = in_.take().line;
    return make_expr(line, Unary{Op::kNot, parse_binary(kPrecNot)});
  }
  return parse_unary(true);
}

ExprPtr ExprParser::parse_binary(int precedence) {
  ExprPtr left = parse_operand(precedence);
  int tightest = kPrecUnary;  // of what `left` may still be the operand of
  while (const OperatorRow* row = binary_operator(in_)) {
    if (row->precedence < precedence) break;
    const Token& token = in_.take();
    if (row->op == Op::kNotIn) in_.take();
    ExprPtr right = parse_binary(row->precedence + 1);
    if (row->precedence == tightest) {
      std::get<Chain>(left->what).rest.emplace_back(row->op, std::move(right));
      continue;
    }
    tightest = row->precedence;
    Chain chain{std::move(left), {}};
    chain.rest.emplace_back(row->op, std::move(right));
    left = make_expr(token.line, std::move(chain));
  }
  return left;
}

ExprPtr ExprParser::parse_unary(bool with_filters) {
  ExprPtr value;
  const Token& token = in_.peek();
  if (token.is_operator("-") || token.is_operator("+")) {
    Nesting nesting(in_);
    int line = in_.take().line;
    Op op = token.text == "-" ? Op::kMinus : Op::kPlus;
    value = make_expr(line, Unary{op, parse_unary(false)});
  } else {
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  return with_filters ? parse_filters_and_tests(std::move(value)) : std::move(value);
}

ExprPtr ExprParser::parse_primary() {
  const Token& token = in_.peek();
  switch (token.kind) {
    case TokenKind::kName:
      return parse_name(in_.take());
    case TokenKind::kString:
      return parse_strings();
    case TokenKind::kInteger:
      return make_expr(token.line, Literal{in_.take().integer});
    case TokenKind::kFloat:
      return make_expr(token.line, Literal{in_.take().number});
    default:
      break;
  }
  if (token.is_operator("(")) return parse_parentheses();
  if (token.is_operator("[")) return parse_list();
  if (token.is_operator("{")) return parse_dict();
  in_.fail("an expression is expected here");
}

ExprPtr ExprParser::parse_name(const Token& token) {
  const std::string& name = token.text;
  if (name == "true" || name == "True") return make_expr(token.line, Literal{true});
  if (name == "false" || name == "False") return make_expr(token.line, Literal{false});
  if (name == "none" || name == "None") return make_expr(token.line, Literal{None{}});
  for (Usage& usage : usages) {
    usage.varargs |= name == "varargs";
    usage.kwargs |= name == "kwargs";
    usage.caller |= name == "caller";
  }
  return make_expr(token.line, NameExpr{name});
}

ExprPtr ExprParser::parse_strings() {
  int line = in_.peek().line;
  std::string joined;
  while (in_.peek().kind == TokenKind::kString) joined += in_.take().text;
  TextRef text = std::make_shared<const Text>(std::move(joined), Origin::kTemplate);
  return make_expr(line, Literal{std::move(text)});
}

ExprPtr ExprParser::parse_parentheses() {
  int line = in_.take().line;
  if (in_.skip_operator(")")) return make_expr(line, ListExpr{{}, ListKind::kTuple});
  ExprPtr value = parse_tuple(true);
  in_.expect_operator(")");
  return value;
}

ExprPtr ExprParser::parse_tuple(bool with_condition, std::string_view end_name) {
  int line = in_.peek().line;
  ListExpr tuple{{}, ListKind::kTuple};
  auto is_at_end = [&] {
    const Token& token = in_.peek();
    return token.kind == TokenKind::kVariableEnd || token.kind == TokenKind::kBlockEnd ||
           token.is_operator(")") || (!end_name.empty() && token.is_name(end_name));
  };
  while (!is_at_end()) {
    tuple.items.push_back(with_condition ? parse_expression() : parse_without_condition());
    if (in_.skip_operator(",")) continue;
    if (tuple.items.size() == 1) return std::move(tuple.items.front());
    break;
  }
  if (tuple.items.empty()) in_.fail("an expression is expected here");
  return make_expr(line, std::move(tuple));
}

ExprPtr ExprParser::parse_list() {
  int line = in_.take().line;
  ListExpr list{{}, ListKind::kList};
  while (!in_.skip_operator("]")) {
    if (!list.items.empty()) {
      in_.expect_operator(",");
      if (in_.skip_operator("]")) break;
    }
    list.items.push_back(parse_expression());
  }
  return make_expr(line, std::move(list));
}

ExprPtr ExprParser::parse_dict() {
  int line = in_.take().line;
  DictExpr dict;
  while (!in_.skip_operator("}")) {
    if (!dict.entries.empty()) {
      in_.expect_operator(",");
      if (in_.skip_operator("}")) break;
    }
    ExprPtr key = parse_expression();
    in_.expect_operator(":");
    dict.entries.emplace_back(std::move(key), parse_expression());
  }
  return make_expr(line, std::move(dict));
}

ExprPtr ExprParser::parse_postfix(ExprPtr base) {
  Postfix postfix{std::move(base), {}};
  int line = postfix.base->line;
  while (true) {
    const Token& token = in_.peek();
    if (token.is_operator(".")) {
      postfix.steps.push_back(parse_attribute());
    } else if (token.is_operator("[")) {
      postfix.steps.push_back(parse_subscript());
    } else if (token.is_operator("(")) {
      postfix.steps.push_back({token.line, CallStep{parse_arguments()}});
    } else {
      break;
    }
  }
  if (postfix.steps.empty()) return std::move(postfix.base);
  return make_expr(line, std::move(postfix));
}

ExprPtr ExprParser::parse_filters_and_tests(ExprPtr base) {
  std::vector<Step> steps;
  while (true) {
    const Token& token = in_.peek();
    if (token.is_operator("|")) {
      in_.take();
      steps.push_back(parse_filter());
    } else if (token.is_name("is")) {
      steps.push_back(parse_test());
    } else if (token.is_operator("(")) {
      steps.push_back({token.line, CallStep{parse_arguments()}});
    } else {
      break;
    }
  }
  if (steps.empty()) return base;
  if (auto* postfix = std::get_if<Postfix>(&base->what)) {
    std::move(steps.begin(), steps.end(), std::back_inserter(postfix->steps));
    return base;
  }
  int line = base->line;
  return make_expr(line, Postfix{std::move(base), std::move(steps)});
}

Step ExprParser::parse_attribute() {
  int line = in_.take().line;
  const Token& token = in_.take();
  if (token.kind == TokenKind::kName) return {line, Attribute{token.text}};
  if (token.kind != TokenKind::kInteger) in_.fail_at(token, "a name or a number is expected here");
  return {line, Subscript{make_expr(token.line, Literal{token.integer})}};
}

ExprPtr ExprParser::parse_slice_part() {
  const Token& token = in_.peek();
  bool is_empty = token.is_operator(":") || token.is_operator("]") || token.is_operator(",");
  return is_empty ? nullptr : parse_expression();
}

Step ExprParser::parse_subscript() {
  const Token& open = in_.take();
  if (in_.peek().is_operator("]")) in_.fail("an index is expected here");
  ExprPtr start = parse_slice_part();
  if (in_.skip_operator(":")) {
    Slice slice{std::move(start), parse_slice_part(), nullptr};
    if (in_.skip_operator(":")) slice.step = parse_slice_part();
    if (in_.peek().is_operator(",")) in_.refuse(open, "a subscript of several slices");
    in_.expect_operator("]");
    return {open.line, std::move(slice)};
  }
  if (in_.peek().is_operator(",")) in_.refuse(open, "a subscript of several parts");
  in_.expect_operator("]");
  return {open.line, Subscript{std::move(start)}};
}

std::string ExprParser::parse_dotted_name() {
  std::string name = in_.expect(TokenKind::kName, "a name").text;
  while (in_.skip_operator(".")) name += "." + in_.expect(TokenKind::kName, "a name").text;
  return name;
}

void ExprParser::note_name(const Token& token, std::string_view what, bool is_known) {
  if (is_known || n_soft > 0) return;
  unknown_.emplace_back(&token, fmt::format("there is no {} '{}'", what, token.text));
}

void ExprParser::require_known_names() const {
  if (!unknown_.empty()) in_.fail_at(*unknown_.front().first, unknown_.front().second);
}

Step ExprParser::parse_filter() {
  const Token& token = in_.peek();
  FilterStep filter{parse_dotted_name(), {}};
  note_name(token, "filter", is_filter(filter.name));
  if (in_.peek().is_operator("(")) filter.args = parse_arguments();
  return {token.line, std::move(filter)};
}

std::vector<Step> ExprParser::parse_filters(bool is_started) {
  std::vector<Step> steps;
  if (is_started) steps.push_back(parse_filter());
  while (in_.skip_operator("|")) steps.push_back(parse_filter());
  return steps;
}

Step ExprParser::parse_test() {
  int line = in_.take().line;
  TestStep test;
  test.is_negated = in_.skip_name("not");
  const Token& token = in_.peek();
  test.name = parse_dotted_name();
  note_name(token, "test", is_test(test.name));
  const Token& next = in_.peek();
  if (next.is_operator("(")) {
    test.args = parse_arguments();
    return {line, std::move(test)};
  }
  bool starts_argument = next.kind == TokenKind::kString || next.kind == TokenKind::kInteger ||
                         next.kind == TokenKind::kFloat || next.is_operator("[") ||
                         next.is_operator("{") || next.kind == TokenKind::kName;
  if (starts_argument && !next.is_name("else") && !next.is_name("or") && !next.is_name("and")) {
    if (next.is_name("is")) in_.fail("tests cannot be chained with 'is'");
    Nesting nesting(in_);
    test.args.positional.push_back(parse_postfix(parse_primary()));
  }
  return {line, std::move(test)};
}

ArgsExpr ExprParser::parse_arguments() {
  const Token& open = in_.take();
  ArgsExpr args;
  bool is_first = true;
  while (!in_.skip_operator(")")) {
    if (!is_first) {
      in_.expect_operator(",");
      if (in_.skip_operator(")")) break;
    }
    is_first = false;
    parse_argument(args, open);
  }
  return args;
}

void ExprParser::parse_argument(ArgsExpr& args, const Token& open) {
  auto require = [&](bool is_right) {
    if (!is_right) in_.fail_at(open, "the arguments of this call are in the wrong order");
  };
  if (in_.skip_operator("*")) {
    require(!args.list && !args.dict);
    args.list = parse_expression();
  } else if (in_.skip_operator("**")) {
    require(!args.dict);
    args.dict = parse_expression();
  } else if (in_.peek().kind == TokenKind::kName && in_.peek(1).is_operator("=")) {
    require(!args.dict);
    std::string name = in_.take().text;
    in_.take();
    args.named.emplace_back(std::move(name), parse_expression());
  } else {
    require(!args.list && !args.dict && args.named.empty());
    args.positional.push_back(parse_expression());
  }
}

Target ExprParser::parse_target(bool allows_attribute) {
  if (allows_attribute && in_.peek(1).is_operator(".")) {
    Target target{Target::Kind::kAttribute, in_.expect(TokenKind::kName, "a name").text, {}, {}};
    in_.take();
    target.attribute = in_.expect(TokenKind::kName, "a name").text;
    return target;
  }
  Target tuple{Target::Kind::kTuple, {}, {}, {}};
  auto is_at_end = [&] {
    const Token& token = in_.peek();
    return token.kind == TokenKind::kBlockEnd || token.is_operator(")") || token.is_name("in");
  };
  while (tuple.items.empty() || !is_at_end()) {
    tuple.items.push_back(parse_target_item());
    if (in_.skip_operator(",")) continue;
    if (tuple.items.size() == 1) return std::move(tuple.items.front());
    break;
  }
  return tuple;
}

Target ExprParser::parse_target_item() {
  if (in_.skip_operator("(")) {
    Nesting nesting(in_);
    Target target = parse_target(false);
    in_.expect_operator(")");
    return target;
  }
  const Token& token = in_.expect(TokenKind::kName, "a name");
  if (!can_assign(token)) in_.fail_at(token, fmt::format("'{}' cannot be set", token.text));
  return {Target::Kind::kName, token.text, {}, {}};
}

}  // namespace ft::jinja
