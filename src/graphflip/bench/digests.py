"""Descriptions of explainers that can be compared: settings as they are, models and data as hashes."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from pydantic import BaseModel
from torch import nn

from ..data.dataset import GraphDataset

_LONGEST = 200


def described(thing: Any) -> Any:
    """Describe a setting of an explainer as JSON; a description of more than 200 characters is replaced by its hash."""
    if thing is None or isinstance(thing, str | int | float):
        return thing
    text = json.dumps(_parts(thing))
    return json.loads(text) if len(text) <= _LONGEST else _short(text)


def settings_of(explainer: Any) -> dict[str, Any]:
    """Describe every field of an explainer."""
    return {field.name: described(getattr(explainer, field.name)) for field in dataclasses.fields(explainer)}


def model_digest(model: nn.Module) -> str:
    """Short hash of a model's class and weights."""
    digest = hashlib.sha256(type(model).__name__.encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _parts(thing: Any) -> Any:
    match thing:
        case None | str() | int() | float():
            return thing
        case nn.Module():
            return model_digest(thing)
        case GraphDataset():
            return thing.fingerprint()[:16]
        case torch.Tensor():
            return _short(repr(thing.shape) + hashlib.sha256(thing.numpy().tobytes()).hexdigest())
        case BaseModel():
            return _parts(thing.model_dump(mode="json"))
        case Mapping():
            return sorted([str(key), described(value)] for key, value in thing.items())
        case tuple() | list():
            return [described(item) for item in thing]
        case set() | frozenset():
            return sorted(map(str, thing))
        case _ if dataclasses.is_dataclass(thing):
            return [type(thing).__name__, settings_of(thing)]
        case _ if callable(thing):
            return "function"  # a callback does not change the answer
        case _:
            return repr(thing)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
