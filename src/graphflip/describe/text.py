"""An answer as text, as `print` shows it."""

from ..edits import heavy_edits
from ..explain.counterfactual import Counterfactual
from .claims import boundary_remarks, each_needed, needs, smaller_answer
from .wording import sentences

_MOST_SENTENCES = 20


def as_text(counterfactual: Counterfactual) -> str:
    """Write an answer as text: outcome, both molecules, changes in words, evidence, and notes, line by line.

    Args:
        counterfactual: The answer of an explainer.

    Returns:
        Several lines; at most 20 changes are told.

    Example:
        >>> from graphflip.data.molecules.molecule import from_smiles, molecule_schema
        >>> from graphflip.explain import Counterfactual, Outcome
        >>> before, after = (from_smiles(text, molecule_schema("CNO", 12, False)) for text in ("CCO", "CCN"))
        >>> print(as_text(Counterfactual("ethanol", "by hand", 1, before, after, 0.2, 0.8, Outcome.FLIPPED)))
        ethanol: flipped; target 1; 0.20 -> 0.80; 1 edit
          CCO -> CCN
          replace hydroxy group on C1 by amino group
    """
    lines = _told(counterfactual)
    verb = "give the target" if counterfactual.goal.unit == "probability" else "predict"
    if counterfactual.evidence is not None:
        evidence = counterfactual.evidence
        said = evidence.in_words(verb), *evidence.chemistry_in_words(), *evidence.familiarity()
        lines += [f"  {line}" for line in said]
    lines += [f"  {counterfactual.note}"] if counterfactual.note else []
    lines += [f"  {remark}" for remark in counterfactual.remarks]
    return "\n".join(lines if counterfactual.flipped else [*lines, f"  {counterfactual.outcome.advice}"])


def _told(counterfactual: Counterfactual) -> list[str]:
    """Lines on the outcome, both molecules, the changes and what they are needed for, and unsure predictions."""
    after = counterfactual.counterfactual
    said = [] if after is None else sentences(counterfactual.factual, after)
    together = each_needed(counterfactual, said)
    lines = [_summary(counterfactual, together)]
    if counterfactual.factual.schema.chemistry is not None and after is not None:
        lines.append(f"  {counterfactual.smiles.factual} -> {counterfactual.smiles.counterfactual}")
    reasons = [""] * len(said) if together else needs(counterfactual, said)
    words = [one.text + (f" ({why})" if why else "") for one, why in zip(said, reasons, strict=True)]
    lines += [f"  {word}" for word in words[:_MOST_SENTENCES]] + (["  …"] if len(words) > _MOST_SENTENCES else [])
    smaller = smaller_answer(counterfactual, said)
    lines += [] if smaller is None else [f"  {smaller.text}"]
    return lines + [f"  {remark}" for remark in boundary_remarks(counterfactual)]


def edit_count(counterfactual: Counterfactual) -> str:
    """Number of edits in words; those that only follow from others are told apart: "2 edits, 4 with hydrogens"."""
    heavy, total = len(heavy_edits(counterfactual.factual, counterfactual.edits)), len(counterfactual.edits)
    following = "charges" if counterfactual.factual.schema.node_charge is not None else "hydrogens"
    return f"{heavy} edit{'' if heavy == 1 else 's'}" + ("" if heavy == total else f", {total} with {following}")


def _summary(counterfactual: Counterfactual, needed: str) -> str:
    checked = f", {needed}" if needed else ""
    before, after = counterfactual.p_factual, counterfactual.p_counterfactual
    change = "" if after is None else f"; {before:.2f} -> {after:.2f}"
    target, counted = counterfactual.class_name(counterfactual.target), edit_count(counterfactual)
    return f"{counterfactual.id}: {counterfactual.outcome.value}; target {target}{change}; {counted}{checked}"
