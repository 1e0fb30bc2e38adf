// Measures llama.cpp with one model: node measure.mjs '{"model": ..., "threads": ..., "prompt": ..., "tokens": ..., "seed": ...}'.
// Prints one JSON object. The same work is done twice and timed the second time.
import {getLlama, LlamaLogLevel} from "node-llama-cpp";

const options = JSON.parse(process.argv[2]);

// Ids that look random and are the same for a seed (xorshift).
function randomIds(n, nVocab, seed) {
    let x = (seed * 2654435761 + 88172645) >>> 0;
    return Array.from({length: n}, () => {
        x ^= x << 13;
        x ^= x >>> 17;
        x = (x ^ (x << 5)) >>> 0;
        return x % nVocab;
    });
}

async function nextToken(steps) {
    const step = await steps.next();
    if (step.done) throw new Error("llama.cpp ended before it was asked to: a step is missing");
    return step.value;
}

// The first evaluation is the prompt's and ends with a token, each further one is a step.
async function run(sequence, prompt, nTokens) {
    await sequence.clearHistory();
    const ids = [];
    const steps = sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true});
    const begin = performance.now();
    ids.push(await nextToken(steps));
    const afterPrompt = performance.now();
    for (let i = 0; i < nTokens; i++) ids.push(await nextToken(steps));
    const end = performance.now();
    await steps.return();
    return {
        prefill_tokens_per_s: prompt.length * 1000 / (afterPrompt - begin),
        tokens_per_s: nTokens * 1000 / (end - afterPrompt),
        ids
    };
}

const llama = await getLlama({
    gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.error,
    maxThreads: options.threads
});
const model = await llama.loadModel({modelPath: options.model, gpuLayers: 0, useMmap: false});
const prompt = options.ids ?? randomIds(options.prompt, options.vocabulary, options.seed);
const context = await model.createContext({
    contextSize: prompt.length + options.tokens + 1, batchSize: 512, sequences: 1, flashAttention: options.flash_attention,
    threads: {ideal: options.threads, min: options.threads}
});
const sequence = context.getSequence();
await run(sequence, prompt, options.tokens);
const result = await run(sequence, prompt, options.tokens);
console.log(JSON.stringify({...result, n_threads: context.currentThreads, system: llama.systemInfo}));
process.exit(0);  // at once, instead of after all has been given back
