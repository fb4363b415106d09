"""Explanations in notebooks: what they print, with pictures."""

from html import escape

from ..describe.sentences import describe
from ..explain.counterfactual import Counterfactual
from .draw.pictures import draw_graph, draw_legend, draw_pair


def to_html(found: Counterfactual) -> str:
    """Pictures, probabilities, edits in words and evidence as HTML; `Counterfactual` shows itself so in notebooks."""
    form = ".2f" if found.goal.unit == "probability" else ".4g"
    change = f"{found.p_factual:{form}}"
    if found.counterfactual is None:
        pictures = draw_graph(found.factual).svg()
    else:
        pictures = "".join(picture.svg() for picture in draw_pair(found.factual, found.counterfactual))
        pictures += f"<br>{draw_legend().svg((260, 26))}"
        change += f" → {found.p_counterfactual:{form}}" if found.p_counterfactual is not None else ""
    what = "probability of" if found.goal.unit == "probability" else "value, to be"
    head = f"{found.id}: {found.outcome.value}; {what} {found.class_name(found.target)} {change}"
    words = "".join(f"<li>{escape(text)}</li>" for text in describe(found))
    evidence = [str(found.evidence)] if found.evidence is not None else []
    reasons = [found.note, "" if found.flipped else found.outcome.advice]
    tail = "".join(f"<p>{escape(text)}</p>" for text in (*evidence, *reasons) if text)
    return f"<div><p>{escape(head)}</p>{pictures}<ul>{words}</ul>{tail}</div>"
