"""docs/gallery.md and the pictures in docs/gallery/: well-known molecules, and what would change the answer.

Usage: python tools/gallery.py [--model ames] [--out docs]     (the same page on every run; minutes on one core)
"""

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from graphflip import load
from graphflip.data.molecules.famous import Molecule, gallery_molecules
from graphflip.describe.text import edit_count
from graphflip.describe.wording import describe
from graphflip.errors import GraphflipError
from graphflip.explain import Counterfactual, Explainer
from graphflip.report.draw.pictures import draw_graph, draw_legend, draw_pair

SEED = 0
DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="ames", help="name or folder of a kit")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of the page")
    asked = parser.parse_args()
    write_gallery(load(asked.model), gallery_molecules(), asked.out)


def write_gallery(explainer: Explainer, molecules: Sequence[Molecule], out: Path) -> None:
    """Explain molecules, and write the page `gallery.md` and its pictures into a folder."""
    folder = out / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    (folder / "legend.svg").write_text(draw_legend().svg() + "\n", encoding="utf-8")
    answers = [explained(explainer, molecule) for molecule in molecules]
    sections = [section(*pair, folder) for pair in zip(molecules, answers, strict=True)]
    page = "\n\n".join([introduction(explainer, answers), overview(molecules, answers), *sections])
    (out / "gallery.md").write_text(page + "\n", encoding="utf-8")


def explained(explainer: Explainer, molecule: Molecule) -> Counterfactual | str:
    """Answer for a molecule, or the reason why it cannot be read."""
    try:
        answer = explainer.explain(molecule.smiles, ids=[molecule.name], seed=SEED)
    except GraphflipError as error:
        print(f"{molecule.name}: {error}")
        return str(error)
    print(f"{answer}\n")
    return answer


def introduction(explainer: Explainer, answers: Sequence[Counterfactual | str]) -> str:
    flipped = sum(isinstance(answer, Counterfactual) and answer.flipped for answer in answers)
    name = explainer.kit.name
    return f"""# Gallery

{len(answers)} molecules that chemists know, and for each the smallest believable change that changes what the kit
`{name}` says of it. {flipped} of the answers are flips. Nothing was chosen: this page is written by

```sh
python tools/gallery.py --model {name}
```

with the default preference and seed {SEED}, and is the same on every run. In the pictures, what was removed, added or
changed is marked as in the legend; numbers are those of the sentences.

![Removed: orange dashed square. Added: green circle. Changed: blue diamond.](gallery/legend.svg)

"Known" is the result in the Ames test according to labels and textbooks, where it is known and undisputed. Many of
these molecules are in the data that the kit was trained on."""


def overview(molecules: Sequence[Molecule], answers: Sequence[Counterfactual | str]) -> str:
    """Table of all molecules, with links to their sections."""
    rows = ["| molecule | known | predicted | change |", "|---|---|---|---|"]
    for molecule, answer in zip(molecules, answers, strict=True):
        predicted = change = "–"
        if isinstance(answer, Counterfactual):
            predicted, change = prediction(answer), plain("; ".join(describe(answer)) or answer.outcome.value)
        rows.append(f"| [{molecule.name}](#{slug(molecule.name)}) | {known(molecule)} | {predicted} | {change} |")
    return "\n".join(rows)


def section(molecule: Molecule, answer: Counterfactual | str, folder: Path) -> str:
    """Section of a molecule: pictures, the change in words, probabilities and evidence."""
    heading = f"## {molecule.name} {{ #{slug(molecule.name)} }}\n\n`{molecule.smiles}`, known: {known(molecule)}"
    if isinstance(answer, str):
        return f"{heading}\n\nIt cannot be read: {plain(answer)}"
    lines = [heading, pictures(molecule.name, answer, folder), *facts(answer)]
    return "\n\n".join(line for line in lines if line)


def pictures(name: str, answer: Counterfactual, folder: Path) -> str:
    """Write the pictures of an answer; Markdown that shows them side by side."""
    factual, changed = answer.factual, answer.counterfactual
    drawn = (draw_graph(factual),) if changed is None else draw_pair(factual, changed)
    shown = []
    for word, picture in zip(("before", "after"), drawn, strict=False):
        file = folder / f"{slug(name)}-{word}.svg"
        file.write_text(picture.svg() + "\n", encoding="utf-8")
        shown.append(f"![{name} {word}](gallery/{file.name})")
    return "\n".join(shown)


def facts(answer: Counterfactual) -> Iterable[str]:
    """The change in words, probabilities before and after, evidence and notes, as paragraphs."""
    yield "\n".join(f"- **{plain(text)}**" for text in describe(answer))
    target, before, after = answer.class_name(answer.target), answer.p_factual, answer.p_counterfactual
    numbers = f"{before:.2f}" if after is None else f"{before:.2f} → {after:.2f}"
    yield f"Predicted: {prediction(answer)}. Probability of {target}: {numbers}, by {edit_count(answer)}."
    if answer.evidence is not None:
        yield f"Evidence: {plain(answer.evidence.in_words('give the target'))}."
        yield "\n".join(f"- {plain(line)}" for line in answer.evidence.familiarity())
    if answer.note:
        yield plain(answer.note)
    if not answer.flipped:
        yield f"Not flipped ({answer.outcome.value}): {answer.outcome.advice}"


def prediction(answer: Counterfactual) -> str:
    """Name of the class that the classifier predicts for the molecule as it is."""
    names = answer.classes
    other = next((name for k, name in enumerate(names) if k != answer.target), "")
    return answer.class_name(answer.target) if answer.p_factual > 0.5 else other


def known(molecule: Molecule) -> str:
    return {True: "positive", False: "negative", None: "–"}[molecule.mutagen]


def plain(text: str) -> str:
    """Escape a text so that brackets of SMILES make no links."""
    return re.sub(r"([\[\]*_])", r"\\\1", text)


def slug(name: str) -> str:
    """A name in small letters, digits and dashes, for files and links."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


if __name__ == "__main__":
    main()
