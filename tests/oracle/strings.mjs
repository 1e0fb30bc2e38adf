// The texts that tokenizers are compared on: node strings.mjs OUT.json. The same list at every run.
import { writeFileSync } from 'node:fs';

const prose = [
  'The lighthouse keeper counted the ships as they passed, one by one, until the fog took them.',
  "It's what we'd hoped for: they've gone, he'll stay, I'm sure; she's the one who'd know. DON'T SHOUT, IT'S LATE.",
  'Numbers: 0, 7, 42, 1234567890, 3.14159, 1e-9, 0x1F, 1,000,000.00, 2026-11-30T03:10:00Z, v1.2.3, ½, ²³, Ⅷ, ①②③.',
  'Le garçon naïf a mangé une crème brûlée à l’hôtel près de l’île ; où était-il ?',
  'Größe, Übermut und Straßen: „Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich“.',
  'Pchnąć w tę łódź jeża lub ośm skrzyń fig, zażółć gęślą jaźń.',
  'İstanbul’da ığdır şehri, çiğ köfte ve güneşli öğleden sonra.',
  'Trời hôm nay đẹp quá, chúng ta đi dạo nhé? Đường phố Hà Nội rất đông người.',
  'Сторож маяка считал корабли, пока туман не скрыл их один за другим.',
  'Їжак з’їв ґудзик, а потім щиро здивувався.',
  'Ο φαροφύλακας μετρούσε τα πλοία ώσπου τα πήρε η ομίχλη· ἄνθρωπος ᾳ ὦ.',
  'كان حارس المنارة يعدّ السفن واحدةً تلو الأخرى حتى أخذها الضباب، ١٢٣٤٥.',
  'این کتاب را می‌خواهم؛ نمی‌دانم کجاست؟',
  'שומר המגדלור סָפַר את הספינות עד שהערפל לקח אותן.',
  'प्रकाशस्तंभ का रखवाला जहाज़ों को एक-एक करके गिनता रहा, जब तक कोहरा नहीं आया। १२३',
  'বাতিঘরের রক্ষক জাহাজগুলি একে একে গুনলেন, কুয়াশা আসা পর্যন্ত।',
  'கலங்கரை விளக்கின் காவலர் கப்பல்களை ஒவ்வொன்றாக எண்ணினார்.',
  'దీపస్తంభం కాపలాదారు ఓడలను లెక్కించాడు.',
  'ผู้ดูแลประภาคารนับเรือทีละลำจนกระทั่งหมอกลงมาปกคลุม น้ำใจ กำลัง',
  '灯塔看守人一艘一艘地数着驶过的船只，直到大雾将它们吞没。',
  '燈塔看守人一艘一艘地數著駛過的船隻；龍龜鬱籲，𠮷𡈽𩸽。',
  '灯台守は霧が船を隠すまで、一隻ずつ数えていた。カタカナとひらがな、ﾊﾝｶｸｶﾞｷﾞ、々〆ヶ。',
  '등대지기는 안개가 배들을 삼킬 때까지 한 척씩 세었다. 뷁 똠방각하 펲시콜라',
  'შუქურის მცველი ითვლიდა გემებს, სანამ ნისლმა არ წაიღო ისინი.',
  'Փարոսի պահապանը հաշվում էր նավերը մեկ առ մեկ։',
  'የመብራት ቤት ጠባቂው መርከቦቹን አንድ በአንድ ቆጠረ።',
  'អ្នកយាមប៉មភ្លើងរាប់កប៉ាល់ម្តងមួយៗ។',
  'གློག་ཁང་གི་སྲུང་མཁན་གྱིས་གྲུ་གཟིངས་རེ་རེ་བཞིན་བགྲངས།',
  'မီးပြတိုက်စောင့်သည် သင်္ဘောများကို တစ်စင်းချင်း ရေတွက်သည်။',
  'ප්‍රදීපාගාර භාරකරු නැව් එකින් එක ගණන් කළේය.',
];

const code = [
  'def fib(n):\n    a, b = 0, 1\n    while n > 0:\n        a, b = b, a + b\n        n -= 1\n    return a\n',
  '#include <vector>\nint main(int argc, char** argv) {\n\tstd::vector<int> v{1, 2, 3};\n\treturn v.size() != 3; // ok?\n}\n',
  'SELECT id, name FROM users WHERE age >= 18 AND name LIKE \'%son%\' ORDER BY 2 DESC;',
  'const f = async (x) => { await g(`${x}`); return x ?? y?.z; };\r\n\r\nexport default f;\r\n',
  '{"key": [1, 2.5e10, null, true, "\\u00e9\\n"], "nested": {"a": {"b": []}}}',
  '<div class="a b" data-x=\'1\'>&amp; &nbsp;<br/></div><!-- c -->',
  '#!/bin/sh\nset -eu\nfor f in *.txt; do\n  echo "$f" | sed \'s/a/b/g\' >> out || exit 1\ndone',
  'if (a<=b&&c!=d||!e){x+=1;y<<=2;z=~z^0xFF;}',
  '\\begin{equation} \\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\end{equation}',
  '# Title\n\n- item *one*\n- item **two**\n\n```c\nint x;\n```\n\n| a | b |\n|---|---|\n',
  'https://example.org/path/to?x=1&y=%20z#frag user@example.org C:\\Users\\me\\file.txt /usr/lib/x86_64-linux-gnu',
  'snake_case camelCase PascalCase SCREAMING_CASE kebab-case x1y2z3 HTTPServer getURLFor2ndItem',
  '1+1=2;2*3=6;10%3=1;a/b\\c^d', '....---...  !!! ??? ,,, ;;; ::: ((())) [[[]]] {{{}}} <<<>>>', '\t\t\tif x:\n\t\t\t\treturn\n',
];

const emoji = [
  '😀😃😄 😁', '👍🏽👍🏿🤘🏻', '👨‍👩‍👧‍👦 👩🏾‍🚀 🏳️‍🌈 🏴‍☠️', '🇫🇷🇩🇪🇯🇵🇺🇳', '❤️❤🧡', '1️⃣2️⃣#️⃣*️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🫠🫡🪿🫨', '👩‍❤️‍💋‍👨', '🤷‍♀️🤷🏼‍♂️',
  'text😀text', '😀'.repeat(50), '👨‍👩‍👧‍👦'.repeat(10), '✈️✈✈︎', '\u200d\u200d', '\ufe0f', '🏻', '🇦', '🇦🇧🇨',
];

const combining = [
  'e\u0301', 'é', 'a\u0300\u0301\u0302', 'a\u0323\u0302', 'a\u0302\u0323', 'ậ', 'A\u030a', 'Å', '\u212b', 'o\u0308\u0304', '\u0301', '\u0301\u0301 \u0300',
  'q\u0307\u0323', 'q\u0323\u0307', '\u1100\u1161\u11a8', '각', '\u1100\u1161', '\uac00\u11a8', 'ﬁ ﬂ ﬃ', '①⑳㊙', '㍿㎏', 'Ａｂｃ１２３', 'ｶﾞ', '\u0344', '\u0f73', '\u0958',
  '\u09c7\u09be', '\u0dd9\u0dcf\u0dca', '\ufb1d\u05b4', 'ᾳ\u0301', '\u03d2\u0301', 'Z̷̢̛͎a̴̧͘l̸̨͠g̶̡̛o̵̢͝', 'ท\u0e33ก\u0e49\u0e33', 'n\u0303'.repeat(20), 'e' + '\u0301'.repeat(100),
  'e' + '\u0323\u0301'.repeat(40), '\u2126 \u212a \u00b5 \u03bc', '\u1e9b\u0323', '\u{1d15e}\u{1d1bf}', '\u{2f800}\uf900', '\u{11131}\u{11127}', '\u3099か\u3099',
];

const runs = [
  'Z'.repeat(3000), 'z'.repeat(3000), 'aA'.repeat(1000), ' '.repeat(3000), '\n'.repeat(1000), '\t'.repeat(1000), ' \n'.repeat(500), '\r\n'.repeat(500), '一'.repeat(1000), '的'.repeat(700),
  '中文'.repeat(400), '=-'.repeat(800), '-'.repeat(2000), '0'.repeat(2000), '1234567890'.repeat(150), 'é'.repeat(700), '\u0301'.repeat(500), '.'.repeat(1500), 'あ'.repeat(500), 'ก'.repeat(500),
  '한'.repeat(500), '\u200b'.repeat(300), '\u00a0'.repeat(300), '\u3000'.repeat(300), 'ab '.repeat(600), "'s".repeat(300), '!?'.repeat(300), '\0'.repeat(100), '𠮷'.repeat(200), 'x' + ' '.repeat(500) + 'y', ' '.repeat(99) + '\n' + ' '.repeat(99) + 'x',
];

const specials = [
  '<|endoftext|>', '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n', '<|im_start|><|im_end|>', '<|im_start|', '|im_start|>', '<|IM_START|>', '< |im_start|>', '<|im_start |>', '<<|im_start|>>',
  '<|im_st<|im_end|>art|>', 'a<|im_end|>b', ' <|im_end|> ', '\n<|im_end|>\n', '<|im_end|><|im_end|>', '<s>', '</s>', '<s>Hello</s>', '<s> Hello </s> ', '<unk>', 'a<unk>b', '<s', '<<s>>', '[INST] hi [/INST]',
  '<tool_call>\n{"name": "f"}\n</tool_call>', '<think>\nwell\n</think>\n\n', '<think', '<tool_response></tool_response>', '<|start|>system<|message|>Be brief.<|end|>', '<|channel|>analysis<|message|>x<|return|>', '<|call|><|constrain|>json',
  '<|reserved_200000|>', '<|endofprompt|>', '<｜begin▁of▁sentence｜>', '<｜User｜>hi<｜Assistant｜>ok<｜end▁of▁sentence｜>', '<｜User｜> hi <｜Assistant｜>', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>x<｜tool▁call▁end｜>',
  '<｜place▁holder▁no▁0｜><｜place▁holder▁no▁799｜>', '<｜▁pad▁｜>', '<｜fim▁hole｜>', '<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>', '<|vision_start|><|image_pad|><|vision_end|>', '<|box_start|>(1,2)<|box_end|>',
  '<0x41>', '<0x0A>', '<0xE4><0xBD><0xA0>', '▁', '▁▁', '▁hello', 'a▁b', '▁ ▁', 'Ġ', 'Ċ', 'Ġthe', 'ĠĠ', 'ĉ', '\u0120\u010a', '<｜begin▁of▁sentence', '<|User|>', '<EOT>', '<｜User｜', 'e<|im_end|>\u0301', '\u0301<|im_end|>', '<|im_end|>\u0301', '<s>\u0338', '</s>\u0338x', '<think>\u0301',
];

const blanks = [
  '', ' ', '  ', '   ', '\n', '\r', '\r\n', '\t', '\v', '\f', '\u0085', '\u00a0', '\u1680', '\u180e', '\u2000\u2001\u2009\u200a', '\u200b', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff', '\ufeffhello',
  ' a', 'a ', ' a ', '  a', 'a  ', '  a  b  ', '\na', 'a\n', '\n\na\n\n', ' \n a \n ', '\t a\t b', 'a \u00a0b', 'a\u3000b', 'a \n \n b', 'a\r\n\r\nb', 'a \r b', '   \n   \n   ', 'x\n\n\n   y', ' \u0301', 'hello   world', 'a\u2028b\u2029c', 'a\u0085b', ' !', '  !', ' 1', '  1', ' .\n', '.\n\n.', ' é', '  é',
];

const controls = [
  '\0', 'a\0b', '\x01\x02\x03', '\x1b[31mred\x1b[0m', '\x7f', '\u0080\u0081\u009f', '\ufffd', '\ufffe\uffff', '\u{10ffff}', '\ue000\uf8ff', '\u202ertl\u202c', '\u2066x\u2069', '\u00ad', '\u{e0001}\u{e0041}', '\ufff9\ufffa\ufffb', '\u034f', '\u061c', '\x08\x08', '\u{1f1e6}\u{e007f}', '\u206f',
];

// Random valid text from a fixed seed.
let state = 20261130;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const ranges = [[0x20, 0x7f], [0, 0x100], [0x100, 0x250], [0x300, 0x370], [0x370, 0x600], [0x600, 0x900], [0x900, 0xe00], [0xe00, 0x1200], [0x1200, 0x2000], [0x2000, 0x2c00],
  [0x3000, 0x3400], [0x4e00, 0xa000], [0xac00, 0xd7a4], [0xf900, 0xfffe], [0x1f300, 0x1fb00], [0x20000, 0x2a6e0]];
function randomText(n, from) {
  let text = '';
  for (let i = 0; i < n; ++i) {
    const [low, high] = from ?? pick(ranges);
    const point = low + below(high - low);
    text += point >= 0xd800 && point < 0xe000 ? ' ' : String.fromCodePoint(point);
  }
  return text;
}
const fragments = [...prose.flatMap((s) => s.split(/(?<= )/)), ...emoji, ...combining, ...specials, ...blanks.slice(1), "'s", "'LL", '123', '\n\n', ' ', '  '];
const randomTexts = [
  ...ranges.map((range) => randomText(120, range)),
  ...Array.from({ length: 30 }, () => randomText(80)),
  ...Array.from({ length: 40 }, () => Array.from({ length: 25 }, () => pick(fragments)).join('')),
  ...Array.from({ length: 10 }, () => Array.from({ length: 60 }, () => pick([' ', '\n', '\t', '\r', 'a', 'B', '1', '.', "'", 's', 'é', '一'])).join('')),
];

const mixed = [prose.join(' '), prose.join('\n'), code.join('\n'), emoji.join(' '), specials.join(' '), 'Hello world', 'hello', 'Hello, 世界! Привет, мир! 123 + 456 = 579 ≠ 580 — “quoted” … end'];
const strings = [...prose, ...code, ...emoji, ...combining, ...runs, ...specials, ...blanks, ...controls, ...randomTexts, ...mixed];
writeFileSync(process.argv[2], JSON.stringify(strings));
console.log(`${process.argv[2]}: ${strings.length} strings`);
