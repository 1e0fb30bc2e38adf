// What the reference implementation says: node tokenizer_oracle.mjs TOKENIZER.json STRINGS.json OUT.json
// Writes, for each string, its ids with and without the post-processor, and the text of the former with and without special tokens.
import { readFileSync, writeFileSync } from 'node:fs';
import tokenizers from 'tokenizers';

const [file, stringsFile, outFile] = process.argv.slice(2);
const tokenizer = tokenizers.Tokenizer.fromFile(file);
const results = [];
for (const text of JSON.parse(readFileSync(stringsFile, 'utf8'))) {
  const ids = (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds();
  const bare = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
  results.push({
    text,
    ids,
    ids_bare: bare,
    decoded: await tokenizer.decode(ids, false),
    decoded_without_special: await tokenizer.decode(ids, true),
  });
}
writeFileSync(outFile, JSON.stringify(results));
console.log(`${outFile}: ${results.length} strings`);
