"""Language models on this machine, through transformers: `local(NAME)`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.grammar import Call
from berdseye.data.language_models.cost import Price
from berdseye.data.language_models.prompts import without_system
from berdseye.data.language_models.protocol import Alternative, Completion, Message, Prompt, Ready, unused
from berdseye.data.models.weights import chosen_device, find_model, hub_commit, loading, model_version
from berdseye.data.progress import Progress, silent

_PLAUSIBLE = 1_000_000
"""Tokenizers without a limit report a number far beyond this one."""
_ONE_AT_A_TIME = RLock()


def context_window(config: Any, tokenizer: Any) -> int | None:
    """The context window in tokens: the smaller limit of configuration and tokenizer, or None if neither has one.

    A model that also reads images has its limit in the configuration of its text part.
    """
    limits = (getattr(config.get_text_config(), "max_position_embeddings", None), tokenizer.model_max_length)
    return min((int(n) for n in limits if n and n < _PLAUSIBLE), default=None)


class Loaded(NamedTuple):
    """A tokenizer, and a model in evaluation mode on its device."""

    tokenizer: Any
    model: Any


class LocalModel:
    """Any causal language model in a format that transformers reads, including GGUF files.

    It runs on an accelerator if there is one, in bfloat16, otherwise in float32 on the CPU, or, with `half`, in bfloat16 too.
    The model's own chat template formats chats; for a base model, which has none, the messages are joined by blank lines. Its
    `price` is 0.
    """

    price = Price(0.0, 0.0)

    def __init__(self, model: str, *, batch: int = 8, half: bool = False) -> None:
        self.model = model
        self.batch = batch
        self.half = half

    @property
    def name(self) -> str:
        return str(Call("local", (self.model,)))

    @cached_property
    def location(self) -> str | Path:
        """The name of a model on the Hub, or the path of its files."""
        return find_model(self.model)

    @cached_property
    def version(self) -> str:
        return model_version(self.location)

    def load(self) -> Loaded:
        """Load the model; the last one used stays in memory."""
        with _ONE_AT_A_TIME:
            return _load(self.model, self.location, self.version, self.half)

    def written(self, prompt: Prompt) -> str:
        """The chat as the model's input text; control tokens in messages are broken up, so that no text can end its turn."""
        from jinja2 import TemplateError

        tokenizer = self.load().tokenizer
        controls = [str(t) for t in tokenizer.added_tokens_decoder.values() if t.special]
        turns = []
        for message in prompt:
            content = message.content
            for control in controls:
                content = content.replace(control, f"{control[:1]} {control[1:]}")
            turns.append(Message(message.role, content))
        if tokenizer.chat_template is None:
            return "\n\n".join(m.content for m in turns)
        try:
            try:
                return _templated(tokenizer, turns)
            except TemplateError:
                return _templated(tokenizer, without_system(tuple(turns)))
        except TemplateError as error:
            raise BadInputError(
                f"The model's chat template rejects the prompt: {error}.",
                hint="Use another model, or a prompt with one turn.",
            ) from error

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        alternatives: int = 0,
        progress: Progress = silent,
        ready: Ready = unused,
    ) -> list[Completion]:
        """Complete the prompts, see `LanguageModel.complete`; raises `BadInputError` if a prompt exceeds the model's window."""
        if not prompts:
            return []
        loaded = self.load()
        texts = [self.written(prompt) for prompt in prompts]
        lengths = [len(ids) for ids in _tokens(loaded.tokenizer, texts)["input_ids"]]
        longest = context_window(loaded.model.config, loaded.tokenizer)
        if longest is not None and max(lengths) + max_tokens > longest:
            raise BadInputError(
                f"A prompt of {max(lengths)} tokens with {max_tokens} new ones exceeds the {longest} tokens of {self.name}.",
                hint="Shorten the prompt or use another model.",
            )
        order = sorted(range(len(prompts)), key=lengths.__getitem__)  # similar lengths in a batch need little padding
        done: dict[int, Completion] = {}
        for start in range(0, len(order), self.batch):
            places = order[start : start + self.batch]
            with _ONE_AT_A_TIME:
                written = _generate(
                    loaded, [texts[p] for p in places], max_tokens, temperature, top_p, seed, alternatives
                )
            for place, (text, count, first) in zip(places, written, strict=True):
                done[place] = Completion(text, lengths[place], count, 0.0, first)
                ready(place, done[place])
            progress(len(done), "completions")
        return [done[place] for place in range(len(prompts))]


@lru_cache(maxsize=1)
def _load(name: str, location: str | Path, version: str, half: bool) -> Loaded:
    del version  # part of the cache key, so that changed weights are loaded again
    with loading(name), _without_bars():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        device = chosen_device()
        options: dict[str, Any] = {}
        folder = location
        if isinstance(location, str):
            options["revision"] = hub_commit(location)
        elif gguf := _gguf(location):
            folder, options["gguf_file"] = gguf.parent, gguf.name
        tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left", **options)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        dtype = torch.float32 if device.type == "cpu" and not half else torch.bfloat16
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options)
        return Loaded(tokenizer, model.eval().to(device))


def _gguf(path: Path) -> Path | None:
    """The GGUF file of a model; None for a folder of transformers."""
    if path.is_file() or (path / "config.json").exists():
        return path if path.is_file() else None
    return min(path.glob("*.gguf"))


def _generate(
    loaded: Loaded, texts: list[str], max_tokens: int, temperature: float, top_p: float, seed: int, alternatives: int
) -> list[tuple[str, int, tuple[Alternative, ...] | None]]:
    """The completion of each text, its number of tokens, and the likeliest first tokens."""
    import torch

    tokenizer, model = loaded
    inputs = _tokens(tokenizer, texts, return_tensors="pt", padding=True).to(model.device)
    drawing = {"do_sample": True, "temperature": temperature, "top_p": top_p, "top_k": 0}
    greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    try:
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(seed)
            output = model.generate(
                **inputs,
                **(drawing if temperature > 0 else greedy),
                max_new_tokens=max_tokens,
                pad_token_id=tokenizer.pad_token_id,
                return_dict_in_generate=True,
                output_logits=alternatives > 0,
            )
    except torch.OutOfMemoryError as error:
        raise UnavailableError(
            "The accelerator has too little memory for this model.", hint="Use a smaller model, or shorten the prompt."
        ) from error
    stops = model.generation_config.eos_token_id
    ends = {tokenizer.eos_token_id, *(stops if isinstance(stops, list) else [stops])}
    token_rows = output.sequences[:, inputs["input_ids"].shape[1] :].tolist()
    counts = [next((n for n, token in enumerate(row, start=1) if token in ends), len(row)) for row in token_rows]
    first = _first_tokens(tokenizer, output.logits[0], alternatives) if alternatives else [None] * len(texts)
    return [
        (tokenizer.decode(row[:count], skip_special_tokens=True), count, likeliest)
        for row, count, likeliest in zip(token_rows, counts, first, strict=True)
    ]


def _first_tokens(tokenizer: Any, logits: Any, count: int) -> list[tuple[Alternative, ...]]:
    """The `count` likeliest tokens of each row of logits[n_texts, n_tokens], likeliest first."""
    values, ids = logits.float().log_softmax(-1).topk(min(count, logits.shape[-1]))
    return [
        tuple(Alternative(tokenizer.decode([token]), value) for token, value in zip(*row, strict=True))
        for row in zip(ids.tolist(), values.tolist(), strict=True)
    ]


def _templated(tokenizer: Any, turns: Sequence[Message]) -> str:
    messages = [{"role": m.role, "content": m.content} for m in turns]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def _tokens(tokenizer: Any, texts: list[str], **options: Any) -> Any:
    """Tokenize texts; special tokens are added only without a chat template, which adds them itself."""
    return tokenizer(texts, add_special_tokens=tokenizer.chat_template is None, **options)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Disable the progress bars of transformers, which would overwrite Berdseye's."""
    from transformers.utils import logging

    bars: Any = logging
    were_enabled = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if were_enabled:
            bars.enable_progress_bar()
