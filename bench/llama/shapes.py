"""What llama.cpp expects of a model with the sizes of a config.json: metadata, and a list of tensors."""
import dataclasses

# Tensors of these names are not read by every step, or not wholly.
TABLE = "token_embd.weight"
EXPERTS = "_exps."


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    shape: tuple  # as in PyTorch: the innermost last
    format: str
    fill: str = "random"  # or "ones" or "scale": what makes weights in NVFP4 as large as the others
    source: str = ""      # where published checkpoints have it; {} stands for an expert


@dataclasses.dataclass(frozen=True)
class Formats:
    """Names out of blocks.FORMATS."""
    dense: str
    experts: str


def value(config, *names):
    for name in names:
        if config.get(name) is not None:
            return config[name]
    raise KeyError(f"config.json has none of {', '.join(names)}")


def rope(config):
    """Parameters under their new or their old names."""
    parameters = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return {"rope_theta": config.get("rope_theta"), **parameters}


def n_experts(config):
    return value(config, "num_experts", "num_local_experts")


def d_expert(config):
    return value(config, "moe_intermediate_size", "intermediate_size")


def experts_format(config):
    """Of the experts that the configuration declares, under the name that blocks.FORMATS has for it."""
    declared = config.get("quantization_config", {})
    if declared.get("quant_method") == "mxfp4":
        return "mxfp4"
    if declared.get("quant_algo") == "NVFP4":
        return "nvfp4"
    if not declared:
        return "bf16"
    raise KeyError(f"config.json declares {declared.get('quant_method')}, which has no counterpart here; give --experts")


def vocabulary(n_vocab):
    """Ids are all that is wanted, so tokens are the 256 bytes and names that nothing is split into."""
    bytes_of_text = [chr(b) if 0x21 <= b <= 0x7E else chr(0x100 + b) for b in range(256)]
    tokens = bytes_of_text + [f"<{i}>" for i in range(256, n_vocab)]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": [f"{tokens[0x61]} {tokens[0x62]}"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
    }


def metadata(config):
    architecture = {"qwen3_moe": "qwen3moe", "gpt_oss": "gpt-oss"}[config["model_type"]]
    sizes = {
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"],
        "expert_feed_forward_length": d_expert(config),
        "expert_count": n_experts(config),
        "expert_used_count": config["num_experts_per_tok"],
        "vocab_size": config["vocab_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
        "attention.key_length": config["head_dim"],
        "attention.value_length": config["head_dim"],
        "attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        "rope.freq_base": float(rope(config)["rope_theta"]),
    }
    if config.get("sliding_window"):
        sizes["attention.sliding_window"] = config["sliding_window"]
    if rope(config).get("rope_type") == "yarn":
        sizes["rope.scaling.type"] = "yarn"
        sizes["rope.scaling.factor"] = float(rope(config)["factor"])
        sizes["rope.scaling.original_context_length"] = rope(config)["original_max_position_embeddings"]
    return {"general.architecture": architecture, "general.name": "random weights", "general.alignment": 32,
            **{f"{architecture}.{key}": size for key, size in sizes.items()}, **vocabulary(config["vocab_size"])}


class Plan:
    """Collects the tensors of a model."""

    def __init__(self, config, formats):
        self.config = config
        self.formats = formats
        self.tensors = []
        self.d_model = config["hidden_size"]
        self.has_biases = config["model_type"] == "gpt_oss"

    def add(self, name, shape, form, source, fill="random"):
        self.tensors.append(Tensor(name, tuple(shape), form, fill, source))

    def matrix(self, name, shape, source, form=None):
        self.add(f"{name}.weight", shape, form or self.formats.dense, f"{source}.weight")
        if self.has_biases:
            self.add(f"{name}.bias", shape[:-2] + shape[-2:-1], "f32", f"{source}.bias")

    def norm(self, name, d, source):
        self.add(f"{name}.weight", (d,), "f32", f"{source}.weight", "ones")

    def attention(self, block, layer):
        d_head = self.config["head_dim"]
        d_query = self.config["num_attention_heads"] * d_head
        d_key = self.config["num_key_value_heads"] * d_head
        self.norm(f"{block}.attn_norm", self.d_model, f"{layer}.input_layernorm")
        for letter, d_out in (("q", d_query), ("k", d_key), ("v", d_key)):
            self.matrix(f"{block}.attn_{letter}", (d_out, self.d_model), f"{layer}.self_attn.{letter}_proj")
        self.matrix(f"{block}.attn_output", (self.d_model, d_query), f"{layer}.self_attn.o_proj")
        if self.config["model_type"] == "qwen3_moe":
            for letter in "qk":
                self.norm(f"{block}.attn_{letter}_norm", d_head, f"{layer}.self_attn.{letter}_norm")
        else:
            self.add(f"{block}.attn_sinks.weight", (self.config["num_attention_heads"],), "f32", f"{layer}.self_attn.sinks")

    def experts(self, block, layer):
        name = "ffn_norm" if self.config["model_type"] == "qwen3_moe" else "post_attention_norm"
        self.norm(f"{block}.{name}", self.d_model, f"{layer}.post_attention_layernorm")
        n, d = n_experts(self.config), d_expert(self.config)
        self.matrix(f"{block}.ffn_gate_inp", (n, self.d_model), f"{layer}.mlp.gate", "f32")
        for part, d_out, d_in in (("gate", d, self.d_model), ("up", d, self.d_model), ("down", self.d_model, d)):
            name = f"{block}.ffn_{part}_exps"
            source = f"{layer}.mlp.experts.{{}}.{part}_proj"
            self.matrix(name, (n, d_out, d_in), source, self.formats.experts)
            if self.formats.experts == "nvfp4":
                self.add(f"{name}.scale", (n,), "f32", f"{source}.weight_scale_2", f"scale {d_in}")

    def model(self):
        shape = (self.config["vocab_size"], self.d_model)
        self.add(TABLE, shape, self.formats.dense, "model.embed_tokens.weight")
        for i in range(self.config["num_hidden_layers"]):
            self.attention(f"blk.{i}", f"model.layers.{i}")
            self.experts(f"blk.{i}", f"model.layers.{i}")
        self.norm("output_norm", self.d_model, "model.norm")
        if not self.config.get("tie_word_embeddings"):
            self.add("output.weight", shape, self.formats.dense, "lm_head.weight")
        return self.tensors


def tensors(config, formats):
    return Plan(config, formats).model()
