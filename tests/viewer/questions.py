"""Tasks of a worker: questions about a mutagen."""

from graphflip.viewer.messages.requests import QuestionView

MUTAGEN = "CN(C)N=O"


SERVED = {"model": "mutagenicity", "source": "mutagenicity", "classifier": None, "private": True}


def asked(**changes) -> dict:
    return QuestionView(**changes).model_dump(mode="json")


def task(given_input=None, do="explain", **changes) -> dict:
    given_input = given_input or {"smiles": MUTAGEN}
    return {"do": do, **SERVED, "input": given_input, "id": "", "asked": asked(**changes)}


def same(one: dict, other: dict) -> bool:
    leave = {"seconds", "id"}
    return {k: v for k, v in one.items() if k not in leave} == {k: v for k, v in other.items() if k not in leave}
