// The reference's normalizers, pre-tokenizers and decoders one by one: node components.mjs STRINGS.json OUT.json
// Writes {kind: [{component, cases: [[input, output], ...]}]}; inputs of decoders are lists of tokens.
import { readFileSync, writeFileSync } from 'node:fs';
import tokenizers from 'tokenizers';

const strings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// Its Unicode tables are of other versions than Oniguruma's and utf8proc's, so random code points say nothing about classes.
const assignedEarly = strings.filter((s) => s.length > 0 && s.length < 600 && !/[\u{10000}-\u{10ffff}\p{Cn}\u0840-\u08ff\u180e]/u.test(s));

const regex = (source) => ({ Regex: source });
const string = (text) => ({ String: text });

const normalizers = [
  { type: 'NFC' }, { type: 'NFD' }, { type: 'NFKC' }, { type: 'NFKD' }, { type: 'Lowercase' }, { type: 'StripAccents' }, { type: 'Nmt' },
  { type: 'Strip', strip_left: true, strip_right: true }, { type: 'Strip', strip_left: true, strip_right: false }, { type: 'Strip', strip_left: false, strip_right: true },
  { type: 'Prepend', prepend: '▁' }, { type: 'Prepend', prepend: 'ab' }, { type: 'ByteLevel' },
  { type: 'Replace', pattern: string(' '), content: '▁' }, { type: 'Replace', pattern: string('..'), content: '' }, { type: 'Replace', pattern: string('.*'), content: 'x' },
  { type: 'Replace', pattern: regex('\\s+'), content: ' ' }, { type: 'Replace', pattern: regex('(l)(e)'), content: '$1\\1' }, { type: 'Replace', pattern: regex('(?<=a)b|^'), content: '<>' },
  { type: 'Replace', pattern: regex('x*'), content: '-' },
  { type: 'Sequence', normalizers: [] },
  { type: 'Sequence', normalizers: [{ type: 'NFKD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'Strip', strip_left: true, strip_right: true }] },
];

const behaviours = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];
const patterns = [string(' '), string('-'), string('é'), string(''), regex('\\s+'), regex('[aeiou]'), regex('\\d{1,3}(?=(?:\\d{3})*\\b)'), regex('b*'), regex('\\p{L}+|\\p{N}+'), regex('(?<=\\n)'), regex("(?i:'s|'T)|\\s+(?!\\S)")];
const preTokenizers = [
  ...behaviours.flatMap((behavior) => patterns.flatMap((pattern) => [true, false].map((invert) => ({ type: 'Split', pattern, behavior, invert })))),
  ...behaviours.map((behavior) => ({ type: 'Punctuation', behavior })), { type: 'Digits', individual_digits: true }, { type: 'Digits', individual_digits: false },
  { type: 'Whitespace' }, { type: 'WhitespaceSplit' }, { type: 'BertPreTokenizer' }, { type: 'CharDelimiterSplit', delimiter: '-' },
  ...[true, false].flatMap((add_prefix_space) => [true, false].map((use_regex) => ({ type: 'ByteLevel', add_prefix_space, use_regex, trim_offsets: true }))),
  ...['always', 'first', 'never'].flatMap((prepend_scheme) => [true, false].map((split) => ({ type: 'Metaspace', replacement: '▁', prepend_scheme, split }))),
  { type: 'Metaspace', replacement: '_', add_prefix_space: true },
  { type: 'Sequence', pretokenizers: [] },
  { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true }] },
  { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: true, use_regex: true, trim_offsets: true }, { type: 'Split', pattern: regex('Ġ'), behavior: 'MergedWithPrevious', invert: false }] },
];

const fallback = ['<0xE4>', '<0xBD>', '<0xA0>', '<0xF0>', '<0x9F>', '<0x98>', '<0x80>', '<0x41>', '<0x0A>', '<0xe4>', '<0xZZ>', '<0xC3>', '<0xA9>'];
const spelled = ['Ġ', 'Ġthe', 'ä', '½', 'ł', 'ð', 'Ł', 'ĺ', 'Ģ', 'Ã', '©', 'á', 'Ċ', '<|end|>', '你', 'ä½łæĥ', 'aé'];
const words = ['▁', '▁▁', '▁a', 'a▁b', 'b', ' ', '  c', 'aab', 'baa', 'x ', 'é', '', 'ab'];
let state = 7;
const below = (n) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
const tokenLists = Array.from({ length: 400 }, () => {
  const list = [fallback, spelled, words, [...fallback, ...words], [...spelled, ...words]][below(5)];
  return Array.from({ length: below(9) }, () => list[below(list.length)]);
});

// Strip aborts on tokens that are shorter than what it may cut off their end.
const longTokenLists = tokenLists.map((list) => ['xyz', ...list.filter((token) => token.length > 2)]);
const cutsEnds = (component) => JSON.stringify(component).match(/"stop":[1-9]/);

const byteFallback = { type: 'ByteFallback' };
const fuse = { type: 'Fuse' };
const blank = { type: 'Replace', pattern: string('▁'), content: ' ' };
const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true };
const sequence = (...decoders) => ({ type: 'Sequence', decoders });
const strip = (content, start, stop) => ({ type: 'Strip', content, start, stop });
const decoders = [
  byteFallback, fuse, blank, byteLevel, strip(' ', 2, 0), strip('a', 0, 2), { type: 'Replace', pattern: regex('a+'), content: 'X' },
  ...['always', 'first', 'never'].map((prepend_scheme) => ({ type: 'Metaspace', replacement: '▁', prepend_scheme, split: true })),
  sequence(), sequence(blank, byteFallback, fuse, strip(' ', 1, 0)), sequence(blank, byteFallback, fuse), sequence(blank, byteFallback, fuse, strip(' ', 0, 3)),
  sequence(fuse, blank), sequence(byteLevel, { type: 'Replace', pattern: string('a'), content: '' }), sequence(byteLevel, strip(' ', 1, 0)), sequence(byteFallback, { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true }),
  sequence(sequence(blank), sequence(fuse)), sequence(byteFallback, byteLevel),
];

function build(field, component) {
  const model = { type: 'BPE', vocab: { a: 0 }, merges: [] };
  return tokenizers.Tokenizer.fromString(JSON.stringify({ version: '1.0', added_tokens: [], model, [field]: component }));
}
const results = {
  normalizer: normalizers.map((component) => {
    const normalizer = build('normalizer', component).getNormalizer();
    return { component, cases: assignedEarly.map((s) => [s, normalizer.normalizeString(s)]) };
  }),
  pre_tokenizer: preTokenizers.map((component) => {
    const preTokenizer = build('pre_tokenizer', component).getPreTokenizer();
    return { component, cases: assignedEarly.map((s) => [s, preTokenizer.preTokenizeString(s).map(([word]) => word)]) };
  }),
  decoder: decoders.map((component) => {
    const decoder = build('decoder', component).getDecoder();
    return { component, cases: (cutsEnds(component) ? longTokenLists : tokenLists).map((tokens) => [tokens, decoder.decode(tokens)]) };
  }),
};
writeFileSync(process.argv[3], JSON.stringify(results));
console.log(`${process.argv[3]}: ${normalizers.length} normalizers, ${preTokenizers.length} pre-tokenizers, ${decoders.length} decoders`);
