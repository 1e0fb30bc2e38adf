// Each kind of component has a table from type names to readers, so a message can list what is
// known. Sequences of components become flat lists of steps; what is a split by a fixed pattern
// (digits, punctuation, ...) becomes that split.
#include "text/tokenizer_json.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "text/utf8.h"

namespace ft {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 16;      // of sequences in sequences
constexpr size_t kMaxSteps = 256;  // of one component

std::string excerpt_of(const json& value) {
  return value.is_structured() ? value.type_name() : excerpt(value.dump(-1, ' ', true));
}

// A value and where it is, so that every complaint names the place.
class Node {
 public:
  Node(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  const json& value() const { return value_; }

  // Nothing if the key is absent or null.
  std::optional<Node> find(const char* key) const {
    if (!value_.is_object())
      bad_input("{}: an object was expected, found {}", path_, value_.type_name());
    const json* found = find_value(value_, key);
    if (found == nullptr) return std::nullopt;
    return Node(*found, fmt::format("{}.{}", path_, key));
  }

  Node at(const char* key) const {
    std::optional<Node> found = find(key);
    if (!found) bad_input("{}: '{}' is missing", path_, key);
    return *found;
  }

  std::string text() const {
    if (!value_.is_string())
      bad_input("{}: a string was expected, found {}", path_, value_.type_name());
    return value_.get<std::string>();
  }

  bool flag() const {
    if (!value_.is_boolean())
      bad_input("{}: true or false was expected, found {}", path_, value_.type_name());
    return value_.get<bool>();
  }

  bool flag(const char* key, bool otherwise) const {
    const std::optional<Node> found = find(key);
    return found ? found->flag() : otherwise;
  }

  int64_t integer() const {
    const std::optional<int64_t> number = integer_of(value_);
    if (!number) bad_input("{}: an integer was expected, found {}", path_, excerpt_of(value_));
    return *number;
  }

  char32_t character() const {
    const std::string string = text();
    size_t position = 0;
    const char32_t code_point = string.empty() ? 0 : next_code_point(string, position);
    if (string.empty() || position != string.size())
      bad_input("{}: one character was expected", path_);
    return code_point;
  }

  std::vector<Node> items() const {
    if (!value_.is_array())
      bad_input("{}: a list was expected, found {}", path_, value_.type_name());
    std::vector<Node> nodes;
    nodes.reserve(value_.size());
    for (size_t i = 0; i < value_.size(); ++i)
      nodes.emplace_back(value_[i], fmt::format("{}[{}]", path_, i));
    return nodes;
  }

 private:
  const json& value_;
  std::string path_;
};

template <typename Steps>
using Readers = std::map<std::string, void (*)(const Node&, int depth, Steps&)>;

// Appends what the component says to `steps`.
template <typename Steps>
void read_component(const Node& node, const char* kind, const Readers<Steps>& readers, int depth,
                    Steps& steps) {
  if (depth > kMaxDepth)
    bad_input("{}: sequences are nested deeper than {}", node.path(), kMaxDepth);
  const std::string type = node.at("type").text();
  const auto reader = readers.find(type);
  if (reader == readers.end()) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : readers) known.push_back(name);
    unsupported("{}: {} type '{}' is not supported; known are {}", node.path(), kind, excerpt(type),
                fmt::join(known, ", "));
  }
  reader->second(node, depth, steps);
}

template <typename Step>
void append(const Node& node, std::vector<Step>& steps, Step step) {
  if (steps.size() >= kMaxSteps) bad_input("{}: more than {} steps", node.path(), kMaxSteps);
  steps.push_back(std::move(step));
}

Pattern read_pattern(const Node& node) {
  if (const std::optional<Node> text = node.find("String"))
    return Pattern::literal(text->text(), text->path());
  if (const std::optional<Node> regex = node.find("Regex"))
    return Pattern::regex(regex->text(), regex->path());
  unsupported("{}: a pattern must be a String or a Regex", node.path());
}

// ---- normalizers

void read_normalizer(const Node& node, int depth, std::vector<NormalizerStep>& steps);

using Normalizers = Readers<std::vector<NormalizerStep>>;

template <typename Step>
void read_plain_normalizer(const Node& node, int, std::vector<NormalizerStep>& steps) {
  append<NormalizerStep>(node, steps, Step{});
}

template <NormalForm kForm>
void read_normal_form(const Node& node, int, std::vector<NormalizerStep>& steps) {
  append<NormalizerStep>(node, steps, NormalizeForm{kForm});
}

const Normalizers& normalizers() {
  using Steps = std::vector<NormalizerStep>;
  static const Normalizers readers = {
      {"ByteLevel", read_plain_normalizer<NormalizeByteLevel>},
      {"Lowercase", read_plain_normalizer<NormalizeLowercase>},
      {"NFC", read_normal_form<NormalForm::kNfc>},
      {"NFD", read_normal_form<NormalForm::kNfd>},
      {"NFKC", read_normal_form<NormalForm::kNfkc>},
      {"NFKD", read_normal_form<NormalForm::kNfkd>},
      {"Nmt", read_plain_normalizer<NormalizeNmt>},
      {"Prepend",
       [](const Node& node, int, Steps& steps) {
         append<NormalizerStep>(node, steps, NormalizePrepend{node.at("prepend").text()});
       }},
      {"Replace",
       [](const Node& node, int, Steps& steps) {
         append<NormalizerStep>(
             node, steps,
             NormalizeReplace{read_pattern(node.at("pattern")), node.at("content").text()});
       }},
      {"Sequence",
       [](const Node& node, int depth, Steps& steps) {
         for (const Node& item : node.at("normalizers").items())
           read_normalizer(item, depth + 1, steps);
       }},
      {"Strip",
       [](const Node& node, int, Steps& steps) {
         append<NormalizerStep>(
             node, steps,
             NormalizeStrip{node.flag("strip_left", true), node.flag("strip_right", true)});
       }},
      {"StripAccents", read_plain_normalizer<NormalizeStripAccents>},
  };
  return readers;
}

void read_normalizer(const Node& node, int depth, std::vector<NormalizerStep>& steps) {
  read_component(node, "normalizer", normalizers(), depth, steps);
}

// ---- pre-tokenizers

void read_pre_tokenizer(const Node& node, int depth, std::vector<PreTokenizerStep>& steps);

using PreTokenizers = Readers<std::vector<PreTokenizerStep>>;

// \w as UTS 18 has it; the engine's own lacks the joiners.
constexpr const char* kWordClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200C}\\x{200D}";
constexpr const char* kPunctuation = "[\\p{P}$+<=>^`|~]";
// The split of GPT-2, which ByteLevel means by use_regex.
constexpr const char* kByteLevelWords =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

SplitBehaviour read_behaviour(const Node& node) {
  static const std::map<std::string, SplitBehaviour> behaviours = {
      {"Contiguous", SplitBehaviour::kContiguous},
      {"Isolated", SplitBehaviour::kIsolated},
      {"MergedWithNext", SplitBehaviour::kMergedWithNext},
      {"MergedWithPrevious", SplitBehaviour::kMergedWithPrevious},
      {"Removed", SplitBehaviour::kRemoved},
  };
  const std::string name = node.text();
  const auto found = behaviours.find(name);
  if (found != behaviours.end()) return found->second;
  unsupported(
      "{}: '{}' is not known; known are Contiguous, Isolated, MergedWithNext, MergedWithPrevious, "
      "Removed",
      node.path(), excerpt(name));
}

void append_split(const Node& node, std::vector<PreTokenizerStep>& steps, const std::string& regex,
                  SplitBehaviour behaviour, bool is_inverted = false) {
  append<PreTokenizerStep>(node, steps,
                           SplitWords{Pattern::regex(regex, node.path()), behaviour, is_inverted});
}

void read_byte_level(const Node& node, int, std::vector<PreTokenizerStep>& steps) {
  if (node.flag("add_prefix_space", true))
    append<PreTokenizerStep>(node, steps, PrefixWords{" ", false});
  if (node.flag("use_regex", true))
    append_split(node, steps, kByteLevelWords, SplitBehaviour::kIsolated);
  append<PreTokenizerStep>(node, steps, SpellBytes{});
}

// Files older than prepend_scheme have add_prefix_space in its place; false needs a scheme of never
// beside it.
std::string read_prepend_scheme(const Node& node) {
  const bool adds_prefix = node.flag("add_prefix_space", true);
  const std::optional<Node> given = node.find("prepend_scheme");
  const std::string scheme = given ? given->text() : "always";
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    unsupported("{}: '{}' is not known; known are always, first, never", given->path(),
                excerpt(scheme));
  }
  if (!adds_prefix && scheme != "never") {
    bad_input("{}: add_prefix_space is false, but prepend_scheme is {}", node.path(), scheme);
  }
  return scheme;
}

std::string read_replacement(const Node& node) {
  std::string replacement;
  const std::optional<Node> given = node.find("replacement");
  append_code_point(replacement, given ? given->character() : U'\u2581');
  return replacement;
}

void read_metaspace(const Node& node, int, std::vector<PreTokenizerStep>& steps) {
  const std::string replacement = read_replacement(node);
  const std::string scheme = read_prepend_scheme(node);
  append<PreTokenizerStep>(node, steps,
                           ReplaceInWords{Pattern::literal(" ", node.path()), replacement});
  if (scheme != "never")
    append<PreTokenizerStep>(node, steps, PrefixWords{replacement, scheme == "first"});
  if (!node.flag("split", true)) return;
  append<PreTokenizerStep>(node, steps,
                           SplitWords{Pattern::literal(replacement, node.path()),
                                      SplitBehaviour::kMergedWithNext, false});
}

const PreTokenizers& pre_tokenizers() {
  using Steps = std::vector<PreTokenizerStep>;
  static const PreTokenizers readers = {
      {"BertPreTokenizer",
       [](const Node& node, int, Steps& steps) {
         append_split(node, steps, "\\s", SplitBehaviour::kRemoved);
         append_split(node, steps, kPunctuation, SplitBehaviour::kIsolated);
       }},
      {"ByteLevel", read_byte_level},
      {"CharDelimiterSplit",
       [](const Node& node, int, Steps& steps) {
         const Node delimiter = node.at("delimiter");
         std::string character;
         append_code_point(character, delimiter.character());
         append<PreTokenizerStep>(node, steps,
                                  SplitWords{Pattern::literal(character, delimiter.path()),
                                             SplitBehaviour::kRemoved, false});
       }},
      {"Digits",
       [](const Node& node, int, Steps& steps) {
         const bool is_each = node.flag("individual_digits", false);
         append_split(node, steps, "\\p{N}",
                      is_each ? SplitBehaviour::kIsolated : SplitBehaviour::kContiguous);
       }},
      {"Metaspace", read_metaspace},
      {"Punctuation",
       [](const Node& node, int, Steps& steps) {
         const std::optional<Node> behaviour = node.find("behavior");
         append_split(node, steps, kPunctuation,
                      behaviour ? read_behaviour(*behaviour) : SplitBehaviour::kIsolated);
       }},
      {"Sequence",
       [](const Node& node, int depth, Steps& steps) {
         for (const Node& item : node.at("pretokenizers").items())
           read_pre_tokenizer(item, depth + 1, steps);
       }},
      {"Split",
       [](const Node& node, int, Steps& steps) {
         append<PreTokenizerStep>(
             node, steps,
             SplitWords{read_pattern(node.at("pattern")), read_behaviour(node.at("behavior")),
                        node.flag("invert", false)});
       }},
      {"Whitespace",
       [](const Node& node, int, Steps& steps) {
         const std::string words = fmt::format("[{0}]+|[^{0}\\s]+", kWordClass);
         append_split(node, steps, words, SplitBehaviour::kRemoved, true);
       }},
      {"WhitespaceSplit",
       [](const Node& node, int, Steps& steps) {
         append_split(node, steps, "\\s", SplitBehaviour::kRemoved);
       }},
  };
  return readers;
}

void read_pre_tokenizer(const Node& node, int depth, std::vector<PreTokenizerStep>& steps) {
  read_component(node, "pre-tokenizer", pre_tokenizers(), depth, steps);
}

// ---- decoders

void read_decoder(const Node& node, int depth, std::vector<DecoderStep>& steps);

using Decoders = Readers<std::vector<DecoderStep>>;

uint64_t read_count(const Node& node) {
  const int64_t count = node.integer();
  if (count < 0) bad_input("{}: {} is negative", node.path(), count);
  return static_cast<uint64_t>(count);
}

template <typename Step>
void read_plain_decoder(const Node& node, int, std::vector<DecoderStep>& steps) {
  append<DecoderStep>(node, steps, Step{});
}

const Decoders& decoders() {
  using Steps = std::vector<DecoderStep>;
  static const Decoders readers = {
      {"ByteFallback", read_plain_decoder<DecodeByteFallback>},
      {"ByteLevel", read_plain_decoder<DecodeByteLevel>},
      {"Fuse", read_plain_decoder<DecodeFuse>},
      {"Metaspace",
       [](const Node& node, int, Steps& steps) {
         append<DecoderStep>(
             node, steps,
             DecodeMetaspace{read_replacement(node), read_prepend_scheme(node) != "never"});
       }},
      {"Replace",
       [](const Node& node, int, Steps& steps) {
         append<DecoderStep>(
             node, steps,
             DecodeReplace{read_pattern(node.at("pattern")), node.at("content").text()});
       }},
      {"Sequence",
       [](const Node& node, int depth, Steps& steps) {
         for (const Node& item : node.at("decoders").items()) read_decoder(item, depth + 1, steps);
       }},
      {"Strip",
       [](const Node& node, int, Steps& steps) {
         append<DecoderStep>(
             node, steps,
             DecodeStrip{node.at("content").character(), read_count(node.at("start")),
                         read_count(node.at("stop"))});
       }},
  };
  return readers;
}

void read_decoder(const Node& node, int depth, std::vector<DecoderStep>& steps) {
  read_component(node, "decoder", decoders(), depth, steps);
}

// ---- post-processors, of which only what they put around the ids of a text is of interest

struct Frame {
  std::vector<int64_t> prefix;
  std::vector<int64_t> suffix;
  bool is_set = false;

  void set(const Node& node, std::vector<int64_t> before, std::vector<int64_t> after) {
    if (std::exchange(is_set, true))
      unsupported("{}: a second post-processor that frames the text", node.path());
    prefix = std::move(before);
    suffix = std::move(after);
  }
};

void read_post_processor(const Node& node, int depth, Frame& frame);

void read_template(const Node& node, int, Frame& frame) {
  std::vector<int64_t> around[2];  // before and behind the text
  bool is_behind = false;
  for (const Node& item : node.at("single").items()) {
    if (const std::optional<Node> sequence = item.find("Sequence")) {
      const std::string id = sequence->at("id").text();
      if (id != "A" || is_behind)
        unsupported("{}: a template must have sequence A once, and no other", item.path());
      is_behind = true;
      continue;
    }
    const std::string name = item.at("SpecialToken").at("id").text();
    const Node token = node.at("special_tokens").at(name.c_str());
    for (const Node& id : token.at("ids").items()) around[is_behind].push_back(id.integer());
  }
  if (!is_behind) unsupported("{}: a template without sequence A", node.path());
  frame.set(node, std::move(around[0]), std::move(around[1]));
}

// [CLS] text [SEP], under two names.
void read_cls_sep(const Node& node, int, Frame& frame) {
  const auto id_of = [&](const char* key) {
    const Node pair = node.at(key);
    const std::vector<Node> items = pair.items();
    if (items.size() != 2) bad_input("{}: a token and its id were expected", pair.path());
    return items[1].integer();
  };
  frame.set(node, {id_of("cls")}, {id_of("sep")});
}

void read_post_processor(const Node& node, int depth, Frame& frame) {
  static const Readers<Frame> readers = {
      {"BertProcessing", read_cls_sep},
      {"ByteLevel", [](const Node&, int, Frame&) {}},  // trims offsets, which nobody asks for here
      {"RobertaProcessing", read_cls_sep},
      {"Sequence",
       [](const Node& sequence, int depth_here, Frame& whole) {
         for (const Node& item : sequence.at("processors").items())
           read_post_processor(item, depth_here + 1, whole);
       }},
      {"TemplateProcessing", read_template},
  };
  read_component(node, "post-processor", readers, depth, frame);
}

// ---- model and added tokens, read without a Node for each of their hundred thousand entries

std::vector<std::pair<std::string, int64_t>> read_vocab(const Node& node) {
  if (!node.value().is_object())
    bad_input("{}: an object from pieces to ids was expected", node.path());
  std::vector<std::pair<std::string, int64_t>> vocab;
  vocab.reserve(node.value().size());
  for (const auto& [piece, id] : node.value().items()) {
    const std::optional<int64_t> number = integer_of(id);
    if (!number)
      bad_input("{}: the id of '{}' is {}, not an integer", node.path(), excerpt(piece),
                excerpt_of(id));
    vocab.emplace_back(piece, *number);
  }
  return vocab;
}

std::pair<std::string, std::string> read_merge(const json& merge, const Node& list, size_t index) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const size_t blank = text.find(' ');
    if (blank != std::string::npos && text.find(' ', blank + 1) == std::string::npos) {
      return {text.substr(0, blank), text.substr(blank + 1)};
    }
  }
  bad_input("{}[{}]: two pieces were expected, as \"a b\" or as [\"a\", \"b\"]", list.path(),
            index);
}

std::vector<std::pair<std::string, std::string>> read_merges(const Node& node) {
  if (!node.value().is_array()) bad_input("{}: a list was expected", node.path());
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(node.value().size());
  for (size_t i = 0; i < node.value().size(); ++i) {
    const json& merge = node.value()[i];
    const bool is_header =
        merge.is_string() && merge.get_ref<const std::string&>().starts_with("#version");
    if (!is_header) merges.push_back(read_merge(merge, node, i));
  }
  return merges;
}

BpeSpec read_model(const Node& node) {
  const std::optional<Node> type = node.find("type");
  if (type && type->text() != "BPE") {
    unsupported("{}: model type '{}' is not supported; known is BPE", node.path(),
                excerpt(type->text()));
  }
  if (const std::optional<Node> dropout = node.find("dropout"); dropout && dropout->value() != 0) {
    unsupported("{}: a model that drops merges at random is not supported; set it to null",
                dropout->path());
  }
  BpeSpec spec;
  spec.vocab = read_vocab(node.at("vocab"));
  spec.merges = read_merges(node.at("merges"));
  if (const std::optional<Node> unk = node.find("unk_token")) spec.unk_token = unk->text();
  if (const std::optional<Node> prefix = node.find("continuing_subword_prefix")) {
    spec.continuing_subword_prefix = prefix->text();
  }
  if (const std::optional<Node> suffix = node.find("end_of_word_suffix"))
    spec.end_of_word_suffix = suffix->text();
  spec.fuse_unk = node.flag("fuse_unk", false);
  spec.byte_fallback = node.flag("byte_fallback", false);
  spec.ignore_merges = node.flag("ignore_merges", false);
  return spec;
}

std::vector<AddedToken> read_added_tokens(const Node& node) {
  std::vector<AddedToken> tokens;
  for (const Node& item : node.items()) {
    AddedToken token;
    token.content = item.at("content").text();
    token.id = item.at("id").integer();
    token.is_special = item.flag("special", false);
    token.is_normalized = item.flag("normalized", !token.is_special);
    token.is_single_word = item.flag("single_word", false);
    token.takes_left_blanks = item.flag("lstrip", false);
    token.takes_right_blanks = item.flag("rstrip", false);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

TokenizerSpec read_tokenizer_json(std::string_view text, const std::string& where) {
  const json document = parse_json_text<json>(text, where);
  const Node root(document, where);
  if (const std::optional<Node> version = root.find("version");
      version && version->text() != "1.0") {
    unsupported("{}: version '{}'; known is 1.0", where, excerpt(version->text()));
  }
  TokenizerSpec spec;
  spec.model = read_model(root.at("model"));
  if (const std::optional<Node> added = root.find("added_tokens"))
    spec.added_tokens = read_added_tokens(*added);
  if (const std::optional<Node> node = root.find("normalizer"))
    read_normalizer(*node, 0, spec.normalizer);
  if (const std::optional<Node> node = root.find("pre_tokenizer"))
    read_pre_tokenizer(*node, 0, spec.pre_tokenizer);
  if (const std::optional<Node> node = root.find("decoder")) {
    read_decoder(*node, 0, spec.decoder);
  } else {
    spec.decoder.emplace_back(DecodeJoin{});
  }
  Frame frame;
  if (const std::optional<Node> node = root.find("post_processor"))
    read_post_processor(*node, 0, frame);
  spec.prefix_ids = std::move(frame.prefix);
  spec.suffix_ids = std::move(frame.suffix);
  return spec;
}

}  // namespace ft
