// One stage for each step. The reference decodes lists of tokens; a stage sees the same list as a
// stream.
#include "text/decoder.h"

#include <charconv>
#include <optional>
#include <utility>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace ft {
namespace {

using Stage = DecodeStream::Stage;

// "<0xE4>" to 0xE4.
std::optional<char> byte_of_fallback(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  return error == std::errc() && end == token.data() + 5 ? std::optional(static_cast<char>(byte))
                                                         : std::nullopt;
}

std::string bytes_of_spelling(std::string_view token) {
  return bytes_of_byte_level(token).value_or(std::string(token));
}

std::string replace_metaspace(const DecodeMetaspace& step, std::string_view token,
                              std::string_view content) {
  std::string replaced;
  for (size_t position = 0; position < token.size();) {
    if (token.substr(position).starts_with(step.replacement)) {
      replaced.append(content);
      position += step.replacement.size();
    } else {
      replaced.push_back(token[position++]);
    }
  }
  return replaced;
}

class Collector : public Stage {
 public:
  explicit Collector(std::string& out) : out_(out) {}
  void text(std::string_view part) override { out_.append(part); }
  void end_token() override {}
  void finish() override {}

 private:
  std::string& out_;
};

class Fuse : public Stage {
 public:
  explicit Fuse(Stage& next) : next_(next) {}
  void text(std::string_view part) override { next_.text(part); }
  void end_token() override {}
  void finish() override {
    next_.end_token();
    next_.finish();
  }

 private:
  Stage& next_;
};

class Join : public Stage {
 public:
  explicit Join(Stage& next) : next_(next) {}
  void text(std::string_view part) override {
    if (std::exchange(is_blank_due_, false)) next_.text(" ");
    next_.text(part);
  }
  void end_token() override { is_blank_due_ = true; }
  void finish() override { next_.finish(); }

 private:
  Stage& next_;
  bool is_blank_due_ = false;
};

// A stage that needs whole tokens. Behind a stage that fuses, that is the whole text.
class WholeTokens : public Stage {
 public:
  explicit WholeTokens(Stage& next) : next_(next) {}
  void text(std::string_view part) override { token_.append(part); }
  void end_token() override {
    on_token(token_);
    token_.clear();
  }
  void finish() override { next_.finish(); }

 protected:
  virtual void on_token(const std::string& token) = 0;
  void emit(std::string_view token) {
    next_.text(token);
    next_.end_token();
  }
  Stage& next() { return next_; }

 private:
  Stage& next_;
  std::string token_;
};

class ByteLevel : public WholeTokens {
 public:
  using WholeTokens::WholeTokens;
  void on_token(const std::string& token) override {
    text_.clear();
    utf8_.push(bytes_of_spelling(token), text_);
    if (!text_.empty()) next().text(text_);
  }
  void finish() override {
    text_.clear();
    utf8_.finish(text_);
    emit(text_);
    next().finish();
  }

 private:
  LossyUtf8 utf8_;
  std::string text_;
};

class ByteFallback : public WholeTokens {
 public:
  using WholeTokens::WholeTokens;
  void on_token(const std::string& token) override {
    if (const std::optional<char> byte = byte_of_fallback(token)) {
      run_.push_back(*byte);
      return;
    }
    flush();
    emit(token);
  }
  void finish() override {
    flush();
    next().finish();
  }

 private:
  // A run that is not valid as a whole is lost as a whole, so nothing of it can be shown before its
  // end.
  void flush() {
    if (run_.empty()) return;
    if (!find_invalid_utf8(run_)) {
      emit(run_);
    } else {
      for (size_t i = 0; i < run_.size(); ++i) emit(kReplacementCharacter);
    }
    run_.clear();
  }

  std::string run_;
};

class Replace : public WholeTokens {
 public:
  Replace(Stage& next, const DecodeReplace& step) : WholeTokens(next), step_(step) {}
  void on_token(const std::string& token) override {
    emit(step_.pattern.replace_all(token, step_.content));
  }

 private:
  const DecodeReplace& step_;
};

class Metaspace : public WholeTokens {
 public:
  Metaspace(Stage& next, const DecodeMetaspace& step) : WholeTokens(next), step_(step) {}
  void on_token(const std::string& token) override {
    emit(replace_metaspace(step_, token, is_first_ && step_.drops_first ? "" : " "));
    is_first_ = false;
  }

 private:
  const DecodeMetaspace& step_;
  bool is_first_ = true;
};

class Strip : public Stage {
 public:
  Strip(Stage& next, const DecodeStrip& step)
      : next_(next), step_(step), n_start_left_(step.n_start) {
    append_code_point(content_, step.content);
  }
  void text(std::string_view part) override {
    std::string passed;
    for (size_t position = 0; position < part.size();) {
      const size_t begin = position;
      const bool is_content = next_code_point(part, position) == step_.content;
      if (is_content && n_start_left_ > 0) {
        --n_start_left_;
        continue;
      }
      n_start_left_ = 0;
      if (is_content && n_held_ < step_.n_stop) {
        ++n_held_;
        continue;
      }
      if (is_content) {
        passed.append(content_);  // the oldest of the held ones: more than n_stop stand in a row
        continue;
      }
      for (; n_held_ > 0; --n_held_) passed.append(content_);
      passed.append(part.substr(begin, position - begin));
    }
    if (!passed.empty()) next_.text(passed);
  }
  void end_token() override {
    n_held_ = 0;
    n_start_left_ = step_.n_start;
    next_.end_token();
  }
  void finish() override { next_.finish(); }

 private:
  Stage& next_;
  const DecodeStrip& step_;
  std::string content_;
  uint64_t n_start_left_;
  uint64_t n_held_ =
      0;  // so many of `content` stand at the end of what was seen and may be cut off
};

std::unique_ptr<Stage> make_stage(const DecoderStep& step, Stage& next) {
  struct Maker {
    Stage& next;
    std::unique_ptr<Stage> operator()(const DecodeByteLevel&) {
      return std::make_unique<ByteLevel>(next);
    }
    std::unique_ptr<Stage> operator()(const DecodeByteFallback&) {
      return std::make_unique<ByteFallback>(next);
    }
    std::unique_ptr<Stage> operator()(const DecodeFuse&) { return std::make_unique<Fuse>(next); }
    std::unique_ptr<Stage> operator()(const DecodeReplace& s) {
      return std::make_unique<Replace>(next, s);
    }
    std::unique_ptr<Stage> operator()(const DecodeStrip& s) {
      return std::make_unique<Strip>(next, s);
    }
    std::unique_ptr<Stage> operator()(const DecodeMetaspace& s) {
      return std::make_unique<Metaspace>(next, s);
    }
    std::unique_ptr<Stage> operator()(const DecodeJoin&) { return std::make_unique<Join>(next); }
  };
  return std::visit(Maker{next}, step);
}

}  // namespace

std::string bytes_of_token(const std::vector<DecoderStep>& steps, std::string_view token) {
  std::string bytes(token);
  for (const DecoderStep& step : steps) {
    if (std::holds_alternative<DecodeByteLevel>(step)) return bytes_of_spelling(bytes);
    if (std::holds_alternative<DecodeByteFallback>(step)) {
      if (const std::optional<char> byte = byte_of_fallback(bytes)) return std::string(1, *byte);
    } else if (const auto* replace = std::get_if<DecodeReplace>(&step)) {
      bytes = replace->pattern.replace_all(bytes, replace->content);
    } else if (const auto* metaspace = std::get_if<DecodeMetaspace>(&step)) {
      bytes = replace_metaspace(*metaspace, bytes, " ");
    }
  }
  return bytes;
}

DecodeStream::DecodeStream(const std::vector<DecoderStep>& steps)
    : out_(std::make_unique<std::string>()) {
  stages_.push_back(std::make_unique<Collector>(*out_));
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    stages_.push_back(make_stage(*step, *stages_.back()));
}

DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;
DecodeStream& DecodeStream::operator=(DecodeStream&&) noexcept = default;
DecodeStream::~DecodeStream() = default;

std::string DecodeStream::push(std::string_view token) {
  stages_.back()->text(token);
  stages_.back()->end_token();
  return take();
}

std::string DecodeStream::finish() {
  stages_.back()->finish();
  return take();
}

std::string DecodeStream::take() {
  return std::exchange(*out_, std::string());
}

}  // namespace ft
