"""An explanation as text: what `print` shows."""

from ..edits import heavy_edits
from ..explain.counterfactual import Counterfactual
from .sentences import describe

_MOST_SENTENCES = 20


def as_text(counterfactual: Counterfactual) -> str:
    """The outcome, both molecules, the changes in words, the evidence, and what stood in the way, line by line."""
    words = describe(counterfactual)
    lines = [_summary(counterfactual)]
    if counterfactual.factual.schema.chemistry is not None and counterfactual.counterfactual is not None:
        from ..data.molecules.molecule import to_smiles

        lines.append(f"  {to_smiles(counterfactual.factual)} -> {to_smiles(counterfactual.counterfactual)}")
    lines += [f"  {word}" for word in words[:_MOST_SENTENCES]] + (["  …"] if len(words) > _MOST_SENTENCES else [])
    verb = "give the target" if counterfactual.goal.unit == "probability" else "predict"
    lines += [f"  {counterfactual.evidence.in_words(verb)}"] if counterfactual.evidence is not None else []
    lines += [f"  {counterfactual.note}"] if counterfactual.note else []
    return "\n".join(lines if counterfactual.flipped else [*lines, f"  {counterfactual.outcome.advice}"])


def _summary(counterfactual: Counterfactual) -> str:
    heavy, total = len(heavy_edits(counterfactual.factual, counterfactual.edits)), len(counterfactual.edits)
    counted = f"{heavy} edit{'' if heavy == 1 else 's'}" + ("" if heavy == total else f", {total} with hydrogens")
    checked = ", none of which can be undone" if counterfactual.one_minimal else ""
    before, after = counterfactual.p_factual, counterfactual.p_counterfactual
    change = "" if after is None else f"; {before:.2f} -> {after:.2f}"
    target = counterfactual.class_name(counterfactual.target)
    return f"{counterfactual.id}: {counterfactual.outcome.value}; target {target}{change}; {counted}{checked}"
