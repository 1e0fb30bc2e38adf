#!/usr/bin/python3
"""Renders chat templates with Jinja2, set up as the transformers library does it: the oracle of tests/text.

Usage: render_templates.py REQUEST.json REPLY.json

REQUEST is a list of objects:
  template   the source, or
  folder     a folder with chat_template.jinja or tokenizer_config.json; its special tokens become variables
  messages   a list; tools: a list or absent; variables: an object; add_generation_prompt: a boolean (default true)
REPLY has for each an object with `text`, or with `error` (type and message).
"""
import datetime
import json
import pathlib
import sys

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    sys.exit("render_templates.py needs Jinja2 for this Python: apt-get install python3-jinja2")

TOKEN_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Generation(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: marks what the assistant said; prints its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_print"), [], [], body).set_lineno(line)

    def _print(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(pattern):
    return datetime.datetime.now().strftime(pattern)


def make_environment():
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment


def token_text(value):
    return value["content"] if isinstance(value, dict) else value


def read_folder(folder):
    """The template of a model's folder and the variables that its tokenizer gives to it."""
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    file = folder / "chat_template.jinja"
    template = file.read_text(encoding="utf-8") if file.exists() else config["chat_template"]
    tokens = {name: token_text(config[name]) for name in TOKEN_NAMES if config.get(name)}
    if config.get("additional_special_tokens"):
        tokens["additional_special_tokens"] = [token_text(t) for t in config["additional_special_tokens"]]
    return template, tokens


def render(environment, case):
    template, variables = case.get("template"), {}
    if "folder" in case:
        template, variables = read_folder(pathlib.Path(case["folder"]))
    variables.update(case.get("variables", {}))
    text = environment.from_string(template).render(
        messages=case["messages"], tools=case.get("tools"), documents=None,
        add_generation_prompt=case.get("add_generation_prompt", True), **variables)
    text.encode("utf-8")  # a lone surrogate is an error, as it is for whoever prints the text
    return text


def main():
    environment = make_environment()
    replies = []
    for case in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
        try:
            replies.append({"text": render(environment, case)})
        except Exception as error:  # whatever a template can raise
            replies.append({"error": f"{type(error).__name__}: {error}"})
    pathlib.Path(sys.argv[2]).write_text(json.dumps(replies), encoding="utf-8")


if __name__ == "__main__":
    main()
