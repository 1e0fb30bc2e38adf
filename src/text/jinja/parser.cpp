// Statements.
#include "text/jinja/parser.h"

#include <array>

#include "base/error.h"
#include "text/jinja/parser_internal.h"

namespace ft::jinja {

namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the template";
    case TokenKind::kData:
      return "text";
    case TokenKind::kString:
      return "a string";
    default:
      return fmt::format("'{}'", token.text);
  }
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view where)
      : in_(std::move(tokens), where), expressions_(in_) {}

  Body parse() {
    Body body = parse_until({});
    expressions_.require_known_names();
    return body;
  }

 private:
  using Names = std::vector<std::string_view>;

  // Statements up to a tag of one of the names, whose "{%" is taken and whose name is not.
  Body parse_until(const Names& end_names) {
    Nesting nesting(in_);
    Body body;
    while (in_.peek().kind != TokenKind::kEnd) {
      const Token& token = in_.take();
      if (token.kind == TokenKind::kData) {
        body.push_back(
            {token.line, Data{std::make_shared<const Text>(token.text, Origin::kTemplate)}});
      } else if (token.kind == TokenKind::kVariableBegin) {
        body.push_back({token.line, Output{expressions_.parse_tuple(true)}});
        in_.expect(TokenKind::kVariableEnd, "'}}'");
      } else {
        for (std::string_view name : end_names) {
          if (in_.peek().is_name(name)) return body;
        }
        parse_statement(body);
        in_.expect(TokenKind::kBlockEnd, "'%}'");
      }
    }
    if (!end_names.empty()) in_.fail(fmt::format("'{{% {} %}}' is missing", end_names.back()));
    return body;
  }

  // The body of a tag whose own "%}" comes next, and the name that ends it.
  Body parse_body(const Names& end_names) {
    in_.skip_operator(":");
    in_.expect(TokenKind::kBlockEnd, "'%}'");
    return parse_until(end_names);
  }
  Body parse_body(std::string_view end_name) {
    Body body = parse_body(Names{end_name});
    in_.take();
    return body;
  }

  void parse_statement(Body& body) {
    struct Row {
      std::string_view name;
      void (Parser::*parse)(Statement&);
    };
    static constexpr std::array kRows = {
        Row{"if", &Parser::parse_if},           Row{"for", &Parser::parse_for},
        Row{"set", &Parser::parse_set},         Row{"macro", &Parser::parse_macro},
        Row{"call", &Parser::parse_call_block}, Row{"filter", &Parser::parse_filter_block},
        Row{"with", &Parser::parse_with},       Row{"generation", &Parser::parse_generation},
        Row{"break", &Parser::parse_break},     Row{"continue", &Parser::parse_continue},
    };
    const Token& token = in_.expect(TokenKind::kName, "the name of a tag");
    if (token.text == "print") return parse_print(body, token.line);
    for (const Row& row : kRows) {
      if (token.text != row.name) continue;
      Statement statement{token.line, Scoped{}};
      (this->*row.parse)(statement);
      body.push_back(std::move(statement));
      return;
    }
    for (std::string_view name : {"include", "import", "from", "extends", "block", "autoescape"}) {
      if (token.text == name) in_.refuse(token, fmt::format("the tag '{}'", name));
    }
    in_.fail_at(token, fmt::format("there is no tag '{}', or it closes nothing", token.text));
  }

  void parse_print(Body& body, int line) {
    while (in_.peek().kind != TokenKind::kBlockEnd) {
      body.push_back({line, Output{expressions_.parse_expression()}});
      if (!in_.skip_operator(",")) break;
    }
  }

  void parse_if(Statement& statement) {
    If branches;
    ++expressions_.n_soft;
    while (true) {
      ExprPtr test = expressions_.parse_tuple(false);
      branches.branches.emplace_back(std::move(test), parse_body(Names{"elif", "else", "endif"}));
      if (in_.skip_name("elif")) continue;
      if (in_.skip_name("else")) {
        branches.otherwise = parse_body("endif");
      } else {
        in_.take();
      }
      break;
    }
    --expressions_.n_soft;
    statement.what = std::move(branches);
  }

  void parse_for(Statement& statement) {
    For loop;
    loop.target = expressions_.parse_target(false);
    in_.expect_name("in");
    loop.items = expressions_.parse_tuple(false, "recursive");
    if (in_.skip_name("if")) loop.filter = expressions_.parse_expression();
    if (in_.peek().is_name("recursive")) in_.refuse(in_.peek(), "a recursive loop");
    int n_soft = std::exchange(expressions_.n_soft, 0);
    ++n_loops_;
    loop.body = parse_body(Names{"else", "endfor"});
    --n_loops_;
    if (in_.take().text == "else") loop.otherwise = parse_body("endfor");
    expressions_.n_soft = n_soft;
    statement.what = std::move(loop);
  }

  void parse_break(Statement& statement) {
    require_loop("break");
    statement.what = Break{};
  }

  void parse_continue(Statement& statement) {
    require_loop("continue");
    statement.what = Continue{};
  }

  void require_loop(std::string_view name) {
    if (n_loops_ == 0) in_.fail(fmt::format("'{}' is outside of a loop", name));
  }

  void parse_set(Statement& statement) {
    Target target = expressions_.parse_target(true);
    if (in_.skip_operator("=")) {
      statement.what = Set{std::move(target), expressions_.parse_tuple(true)};
      return;
    }
    std::vector<Step> filters = expressions_.parse_filters(false);
    statement.what = SetBlock{std::move(target), std::move(filters), parse_enclosed("endset")};
  }

  // A body that is rendered into a text of its own: break does not reach a loop outside of it.
  Body parse_enclosed(std::string_view end_name) {
    int n_loops = std::exchange(n_loops_, 0);
    int n_soft = std::exchange(expressions_.n_soft, 0);
    Body body = parse_body(end_name);
    expressions_.n_soft = n_soft;
    n_loops_ = n_loops;
    return body;
  }

  void parse_parameters(MacroBody& macro) {
    in_.expect_operator("(");
    while (!in_.skip_operator(")")) {
      if (!macro.parameters.empty()) in_.expect_operator(",");
      std::string name = in_.expect(TokenKind::kName, "the name of a parameter").text;
      ExprPtr value = in_.skip_operator("=") ? expressions_.parse_expression() : nullptr;
      if (!value && !macro.parameters.empty() && macro.parameters.back().second) {
        in_.fail("a parameter without default follows one with a default");
      }
      macro.parameters.emplace_back(std::move(name), std::move(value));
    }
  }

  void parse_macro_body(MacroBody& macro, std::string_view end_name) {
    expressions_.usages.emplace_back();
    macro.body = parse_enclosed(end_name);
    ExprParser::Usage usage = expressions_.usages.back();
    expressions_.usages.pop_back();
    macro.uses_varargs = usage.varargs;
    macro.uses_kwargs = usage.kwargs;
    macro.uses_caller = usage.caller;
  }

  void parse_macro(Statement& statement) {
    MacroBody macro;
    macro.name = in_.expect(TokenKind::kName, "the name of a macro").text;
    parse_parameters(macro);
    parse_macro_body(macro, "endmacro");
    statement.what = std::move(macro);
  }

  void parse_call_block(Statement& statement) {
    CallBlock block;
    block.caller.name = "caller";
    if (in_.peek().is_operator("(")) parse_parameters(block.caller);
    const Token& token = in_.peek();
    block.call = expressions_.parse_expression();
    auto* postfix = std::get_if<Postfix>(&block.call->what);
    if (!postfix || !std::holds_alternative<CallStep>(postfix->steps.back().what)) {
      in_.fail_at(token, "a call is expected here");
    }
    parse_macro_body(block.caller, "endcall");
    statement.what = std::move(block);
  }

  void parse_filter_block(Statement& statement) {
    std::vector<Step> filters = expressions_.parse_filters(true);
    statement.what = FilterBlock{std::move(filters), parse_enclosed("endfilter")};
  }

  void parse_with(Statement& statement) {
    With with;
    while (in_.peek().kind != TokenKind::kBlockEnd) {
      if (!with.names.empty()) in_.expect_operator(",");
      Target target = expressions_.parse_target(false);
      in_.expect_operator("=");
      with.names.emplace_back(std::move(target), expressions_.parse_expression());
    }
    with.body = parse_body("endwith");
    statement.what = std::move(with);
  }

  void parse_generation(Statement& statement) {
    statement.what = Scoped{parse_enclosed("endgeneration")};
  }

  TokenReader in_;
  ExprParser expressions_;
  int n_loops_ = 0;
};

}  // namespace

const Token& TokenReader::peek(size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& TokenReader::take() {
  const Token& token = peek();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool TokenReader::skip_operator(std::string_view spelling) {
  if (!peek().is_operator(spelling)) return false;
  take();
  return true;
}

bool TokenReader::skip_name(std::string_view name) {
  if (!peek().is_name(name)) return false;
  take();
  return true;
}

const Token& TokenReader::expect(TokenKind kind, std::string_view what) {
  if (peek().kind != kind) fail(fmt::format("{} is expected here, not {}", what, describe(peek())));
  return take();
}

void TokenReader::expect_operator(std::string_view spelling) {
  if (!skip_operator(spelling)) {
    fail(fmt::format("'{}' is expected here, not {}", spelling, describe(peek())));
  }
}

void TokenReader::expect_name(std::string_view name) {
  if (!skip_name(name)) {
    fail(fmt::format("'{}' is expected here, not {}", name, describe(peek())));
  }
}

void TokenReader::fail_at(const Token& token, std::string_view text) const {
  syntax_error(where_, token, text);
}

void TokenReader::refuse(const Token& token, std::string_view what) const {
  unsupported("{}:{}:{}: {} is not supported in chat templates", where_, token.line, token.column,
              what);
}

Body parse_template(std::string_view source, std::string_view where) {
  return Parser(tokenize(source, where), where).parse();
}

}  // namespace ft::jinja
