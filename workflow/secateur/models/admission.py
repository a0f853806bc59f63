"""What the files of a model state is accounted for: applied, known to change no number, or refused by name."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from secateur.core.errors import SecateurError

__all__ = [
    "ADMITTED",
    "READER",
    "refuse_adapter",
    "refuse_unread_fields",
    "refuse_unread_metadata",
    "refuse_unread_weights",
]
__all__ += ["positions", "refuse_window", "unread_fields"]

READER = "lm.model"  # the key of a reader's address
SHOWN = 3  # names in a message
ADAPTER = "adapter_config.json"
INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"
ORIGINAL = "consolidated"  # weights once more, in the form of the maker's own code (Mistral, Llama)

# Fields of a config.json that change no log-probability and no vector, whatever their value: names, training, generation.
PASSING = re.compile(
    r"_name_or_path|_attn_implementation.*|_commit_hash|_diffusers_version|_num_labels|_model_name_or_path|.*dropout.*|.*_p?drop"
    r"|drop_path_rate|initializer_.*|.*_initializer_.*|init_std|init_device|.*_loss|.*loss_coef|.*_loss_.*"
    r"|(?:bos|eos|pad|unk|sep|cls|mask|decoder_start|forced_[be]os)_token_id|(?:bos|eos|pad)_token|tokenizer_class"
    r"|architectures|auto_map|model_type|name_or_path|(?:transformers|unsloth|torch|model|config)_version|torch_dtype|dtype"
    r"|torchscript|id2label|label2id|num_labels|problem_type|finetuning_task|task_specific_params|summary_.*|classifier_dropout"
    r"|use_cache|output_(?:attentions|hidden_states|past|router_logits)|return_dict.*|.*checkpointing.*|attn_implementation"
    r"|use_flash_attn.*|use_flash_attention.*|use_sdpa|use_memory_efficient_attention|pretraining_tp|max_length|min_length"
    r"|temperature|top_[kp]|do_sample|num_beams|repetition_penalty|model_max_length|unsloth_.*|license|language|datasets|tags"
    r"|router_(?:aux|z)_.*|chunk_size_feed_forward|is_decoder|is_encoder_decoder"
)
# Fields that transformers moves elsewhere, or that `from_pretrained` itself reads.
MOVED = {
    "rope_scaling",
    "rope_theta",
    "rope_parameters",
    "original_max_position_embeddings",
}  # by models with such angles
READ, SHARE = {"quantization_config", "partial_rotary_factor"}, "partial_rotary_factor"
# Fields that a class declares and its code does not read: their own value alone is admitted.
UNREAD = {"mpt": {"logit_scale", "norm_type", "expansion_ratio", "attn_config"}, "biogpt": {"layer_norm_eps"}}
USUAL = {"position_embedding_type": "absolute"}  # what the code does that no longer reads the field
OTHER_SENSES = ("vision", "audio", "video", "image")  # beginnings of parts that no text reaches
# Rope types whose angles hang on the position alone.
STATIC = ("default", "linear", "yarn", "llama3", "proportional")
PADDED = (
    "camembert mpnet roberta xlm-roberta xlm-roberta-xl roberta-prelayernorm xmod data2vec-text ibert luke longformer"
)
OFFSETS = dict.fromkeys(PADDED.split(), 2)  # positions of no token, by model type


ADMITTED: dict[str, dict[str, Any]] = {}  # by address, what was admitted in this process: for the records of stages


def refuse_adapter(named: str, folder: Path, key: str = READER) -> None:
    """Raise SecateurError for a folder with an adapter, or with weights that its index does not name."""
    if (folder / ADAPTER).is_file():
        base = json.loads((folder / ADAPTER).read_text(encoding="utf-8")).get("base_model_name_or_path")
        raise SecateurError(
            f"{key} {named}: {ADAPTER} makes it an adapter of {base}, whose matrices are not read. Fix: merge it into its "
            "base (peft: merge_and_unload, then save_pretrained) and name that folder, or remove the adapter's files."
        )
    there = {path.name for path in folder.glob("*.safetensors") if not path.name.startswith(ORIGINAL)}
    if WEIGHTS in there:
        named_there = {WEIGHTS}
    elif (folder / INDEX).is_file():
        named_there = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    else:
        return
    if unread := sorted(there - named_there):
        raise SecateurError(
            f"{key} {named}: {_some(unread)} would not be read beside {WEIGHTS if WEIGHTS in there else INDEX}. "
            "Fix: remove what does not belong to the model, or download it again."
        )


def refuse_unread_weights(
    address: str, info: Mapping, key: str = READER, unused: tuple[str, ...] = (), inner: Iterable[str] | None = None
) -> None:
    """Raise SecateurError where weights of a model are not in its files, or weights of its files are not in the model.

    The former would be random, the latter are left out: scales, biases, adapters, a model of another shape.

    info: what `from_pretrained` returns with `output_loading_info`; unused: beginnings of names of weights that are not
    used. inner: the parts of a network whose outputs are read; heads beside them may be left out.
    """
    unmatched = {*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"])}
    missing = sorted(name for name in unmatched if not name.startswith(unused))
    unread = sorted(name for name in info["unexpected_keys"] if not name.startswith(unused))
    if inner is not None:
        modules = set(inner)
        unread = [name for name in unread if modules & set(name.split(".")) or "lora" in name or "adapter" in name]
    if missing:
        also = f"; {len(unread)} weights of its files are not read ({_some(unread)})" if unread else ""
        raise SecateurError(
            f"{key} {address}: {len(missing)} of the model's weights are not in its files or have another shape "
            f"({_some(missing)}){also}. They would be random. "
            "Fix: download the files again, or name a folder of that model."
        )
    if unread:
        raise SecateurError(
            f"{key} {address}: {len(unread)} weights of its files have no place in the model of its config.json "
            f"({_some(unread)}), so its numbers would be others. Fix: merge adapters and dequantise scaled weights "
            "(save_pretrained of the whole model), or correct config.json."
        )


def refuse_unread_fields(named: str, folder: Path, config: Any, key: str = READER) -> None:
    """Raise SecateurError for fields of a folder's config.json that the model's code does not read."""
    file = folder / "config.json"
    stated = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if unread := unread_fields(stated, config):
        shown = [f"{name}={json.dumps(value)}" for name, value in unread.items()]
        raise SecateurError(
            f"{key} {named}: config.json states {_some(shown)}, which the code of {config.model_type} does not read. "
            "Fix: a model that transformers knows wholly, or remove the field if it changes no number."
        )


def unread_fields(stated: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """The fields of a config.json that the class of its model does not read, unless they are off or change no number."""
    unread: dict[str, Any] = {}
    code, modeling = _code_of(type(config)), _code_of(type(config), "modeling_*.py")
    turned = re.search("(?<![a-z])rope|rotary", modeling) is not None
    read_fields = (
        {field.name for field in fields(type(config))} | set(config.attribute_map) | READ | (MOVED if turned else set())
    )
    unread_names = UNREAD.get(config.model_type, set())
    for name, value in stated.items():
        part = vars(config).get(name)
        if name in unread_names:
            usual = getattr(type(config)(), name)
            same = value == usual or (isinstance(value, Mapping) and _plain(value).items() <= usual.to_dict().items())
            unread |= {} if same else {name: value}
        elif isinstance(value, Mapping) and hasattr(part, "attribute_map"):
            inner = {} if name.startswith(OTHER_SENSES) else unread_fields(value, part)
            unread |= {f"{name}.{field}": inner_value for field, inner_value in inner.items()}
        elif name not in read_fields and value and value != USUAL.get(name) and not PASSING.fullmatch(name):
            read = name not in MOVED and re.search(rf"\.{name}\b|[\"']{name}[\"']", code)
            unread |= {} if read else {name: value}
    for rope in _ropes(config) if turned else ():
        if rope.get(SHARE, 1.0) != 1.0 and rope.get("rope_type", "default") == "default" and SHARE not in modeling:
            unread[SHARE] = rope[SHARE]
        others = _unread_of_rope(config, rope) - MOVED - {SHARE}
        unread |= {f"rope_parameters.{name}": rope[name] for name in others if rope[name]}
    return unread


def _plain(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stated.items() if not PASSING.fullmatch(name)}


@cache
def _code_of(kind: type, files: str = "*.py") -> str:
    """The code that reads the fields of a class of configurations: of its model, and of rotary positions."""
    folder = Path(inspect.getfile(kind)).parent
    code = [path.read_text(encoding="utf-8") for path in folder.glob(files) if not path.name.startswith("tokenization")]
    shared = (folder.parents[1] / "modeling_rope_utils.py").read_text(encoding="utf-8") if files == "*.py" else ""
    return "\n".join([*code, shared])


def _ropes(config: Any) -> list[dict[str, Any]]:
    """Parameters of rotary positions: of all layers, or of each type of layer."""
    parameters = vars(config).get("rope_parameters") or {}
    nested = [value for value in parameters.values() if isinstance(value, dict)]
    return nested or ([parameters] if parameters else [])


def _unread_of_rope(config: Any, rope: Mapping[str, Any]) -> set[str]:
    """Parameters of rotary positions that their type does not read; transformers only warns of them."""
    checked = getattr(config, f"_validate_{rope.get('rope_type', 'default')}_rope_parameters", None)
    if checked is None:
        return set()
    unread: set[str] = set()

    def received(
        _: str, stated: set[str], required: set[str], optional_keys: Iterable[str] = (), ignore_keys=()
    ) -> None:
        unread.update(stated - {"type", "rope_type", *required, *(optional_keys or ()), *(ignore_keys or ())})

    with patch.object(type(config), "_check_received_keys", staticmethod(received)):
        checked(dict(rope), ignore_keys=config.ignore_keys_at_rope_validation)
    return unread


# Metadata of a GGUF file, after its architecture's name, that transformers does not read and that changes no number.
UNREAD_METADATA = re.compile(
    r"attention\.causal|.*tensor_data_layout|expert_(?:feed_forward_length|weights_.*)|.*\.orig_ctx_len"
)
# tokenizer.ggml.pre: how GPT-2 splits a text, and the same after single digits, which is equal where no token has two.
AS_GPT2, SINGLE_DIGITS = {"gpt-2", "phi-2", "olmo", "mpt"}, {"smollm", "starcoder", "refact", "command-r", "codeshell"}


def refuse_unread_metadata(named: str, file: Any, model: Any) -> None:
    """Raise SecateurError for metadata and tensors of a GGUF file that transformers leaves unread.

    file: a GGUFReader; model: what transformers made of it.
    """
    from transformers.modeling_gguf_pytorch_utils import (
        GGUF_TO_TRANSFORMERS_MAPPING,
        TENSOR_PROCESSORS,
        TensorProcessor,
        get_gguf_hf_weights_map,
    )

    stated = {
        name: field.contents() for name, field in file.fields.items() if not name.endswith((".tokens", ".merges"))
    }
    kind, config = stated["general.architecture"], model.config
    mapped = GGUF_TO_TRANSFORMERS_MAPPING["config"]
    read = {
        name
        for architecture in (kind, config.model_type)
        for name, to in (mapped.get(architecture) or {}).items()
        if to not in (None, -1)
    }
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    same = {"attention.key_length": width, "attention.value_length": width, "rope.dimension_count": width}
    unread = {}
    for name, value in stated.items():
        field = name.removeprefix(f"{kind}.")
        if field == name or field in read or UNREAD_METADATA.fullmatch(field):
            continue
        equal = same.get(field, vars(config).get(field.replace("attention.", "").replace(".", "_")))
        if value not in (0, False, "", "none", equal) and not (field == "rope.scaling.factor" and value == 1):
            unread[name] = value
    if stated.get(f"{kind}.rope.scaling.type", "none") == "none":
        unread = {name: value for name, value in unread.items() if ".rope.scaling." not in name}
    split = stated.get("tokenizer.ggml.pre", "gpt-2")
    if stated.get("tokenizer.ggml.model") == "gpt2" and not _splits(file, split):
        unread["tokenizer.ggml.pre"] = split
    processor = TENSOR_PROCESSORS.get(kind, TensorProcessor)(config={})
    placed = get_gguf_hf_weights_map(model, processor)
    tensors = [
        t.name for t in file.tensors if t.name not in placed and "_exps" not in t.name and not (t.data == 1).all()
    ]
    if unread or tensors:
        shown = [f"{name}={json.dumps(value, default=str)}" for name, value in unread.items()] + tensors
        raise SecateurError(
            f"{READER} {named}: transformers does not read {_some(shown)} of this GGUF file, so its numbers would be "
            "others. Fix: name the folder or the hub id of the model that it was made from."
        )


def _splits(file: Any, split: str) -> bool:
    """Whether transformers splits texts into words as the file's tokenizer does."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    if split in AS_GPT2 or split in GGUF_PRE_TOKENIZER_SPLITS:
        return True
    tokens = file.fields["tokenizer.ggml.tokens"].contents() if split in SINGLE_DIGITS else ["00"]
    return not any(re.search(r"\d\d|Ġ\d", token) for token in tokens)


def refuse_window(named: str, config: Any, window: int) -> None:
    """Raise SecateurError for a window beyond the positions of a reader, or where angles hang on the longest of a pass.

    config: of the text model. Beyond its positions a model reads what it never did in training, or fails.
    """
    for rope in _ropes(config):
        kind = rope.get("rope_type", "default")
        if kind in STATIC:
            continue
        original = rope.get("original_max_position_embeddings") or config.max_position_embeddings
        if window > original:
            raise SecateurError(
                f"{READER} {named}: rope_type {kind} turns all positions otherwise where a sequence of the pass exceeds "
                f"{original} tokens, and lm.window is {window}. Fix: lm.window={original}"
            )
    if (room := positions(config)) and window > room:
        raise SecateurError(f"{READER} {named}: has {room} positions, and lm.window is {window}. Fix: lm.window={room}")


def positions(config: Any) -> int | None:
    """The positions of a model, as its config states them; None where it has no bound, as with ALiBi.

    YaRN states the length before it, and by what factor it is stretched.
    """
    most = getattr(config, "max_position_embeddings", None)
    for rope in _ropes(config):
        if most and rope.get("rope_type") == "yarn" and (original := rope.get("original_max_position_embeddings")):
            most = max(most, int(original * rope["factor"]))
    return most - OFFSETS.get(config.model_type, 0) if most and most > 0 else None


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
