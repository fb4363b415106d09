"""Explanations as HTML, with pictures, for notebooks."""

from html import escape

from ..describe.wording import describe
from ..explain.counterfactual import Counterfactual
from .draw.pictures import draw_graph, draw_legend, draw_pair


def to_html(counterfactual: Counterfactual) -> str:
    """Show an explanation as HTML: pictures, probabilities, edits in words and evidence.

    Notebooks call this by themselves when a `Counterfactual` is the last value of a cell.

    Args:
        counterfactual: The explanation, successful or not.

    Returns:
        A `<div>` that needs no script and no network. All texts in it are escaped.

    Example:
        >>> from graphflip import Categories, Counterfactual, Graph, Schema, to_html
        >>> from graphflip.explain import Outcome
        >>> schema = Schema(nodes=(Categories(name="type", values=("a", "b")),), max_nodes=2)
        >>> before = Graph.build(schema, [{"type": "a"}, {"type": "a"}], [(0, 1, {})])
        >>> after = Graph.build(schema, [{"type": "a"}, {"type": "b"}], [(0, 1, {})])
        >>> counterfactual = Counterfactual("pair", "by hand", 1, before, after, 0.1, 0.9, Outcome.FLIPPED)
        >>> to_html(counterfactual)[:54]
        '<div><p>pair: flipped; probability of 1 0.10 → 0.90</p'
    """
    heading = f"<p>{escape(_heading(counterfactual))}</p>"
    changes = "".join(f"<li>{escape(text)}</li>" for text in describe(counterfactual))
    known = counterfactual.evidence
    evidence = [] if known is None else [str(known), *known.chemistry_in_words(), *known.familiarity()]
    advice = "" if counterfactual.flipped else counterfactual.outcome.advice
    texts = *evidence, counterfactual.note, *counterfactual.remarks, advice
    remarks = "".join(f"<p>{escape(text)}</p>" for text in texts if text)
    return f"<div>{heading}{_pictures(counterfactual)}<ul>{changes}</ul>{remarks}</div>"


def _heading(counterfactual: Counterfactual) -> str:
    """Name, outcome, target, and the target's probability or the value before and after."""
    is_value = counterfactual.goal.unit == "value"
    form, quantity = (".4g", "value, to be") if is_value else (".2f", "probability of")
    number = f"{counterfactual.p_factual:{form}}"
    if counterfactual.counterfactual is not None and counterfactual.p_counterfactual is not None:
        number += f" → {counterfactual.p_counterfactual:{form}}"
    target = counterfactual.class_name(counterfactual.target)
    return f"{counterfactual.id}: {counterfactual.outcome.value}; {quantity} {target} {number}"


def _pictures(counterfactual: Counterfactual) -> str:
    """SVG of the factual, and of the changed graph with a legend if there is one."""
    if counterfactual.counterfactual is None:
        return draw_graph(counterfactual.factual).svg()
    pair = draw_pair(counterfactual.factual, counterfactual.counterfactual)
    return (
        "".join(picture.svg() for picture in pair) + f"<br>{draw_legend().svg((260, 26))}{_importance(counterfactual)}"
    )


def _importance(counterfactual: Counterfactual) -> str:
    """The factual colored by how much changes move the prediction, to be folded out; empty if that is not known."""
    if counterfactual.importance is None:
        return ""
    words = "Rose: changes here lead to the target, so it holds the prediction. Blue: they lead away from it."
    words += " Small spots are estimates by the classifier's gradient." if counterfactual.importance.estimated else ""
    picture = draw_graph(counterfactual.factual, importance=counterfactual.importance).svg()
    return f"<details><summary>Where it matters</summary>{picture}<p>{words}</p></details>"
