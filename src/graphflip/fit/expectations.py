"""Sentences on what to expect of a kit's explanations, from its figures."""

from .readiness import Readiness, Trial


def expectations(readiness: Readiness) -> list[str]:
    """Say in sentences what the figures of a kit mean for its explanations."""
    concerns = [*_about_data(readiness), *_about_models(readiness)]
    if readiness.trial is not None:
        concerns += _about_trial(readiness.trial)
    else:
        concerns.append("The kit has no classifier: give yours with `graphflip.load(folder, classifier=…)`.")
    return concerns


def _about_data(readiness: Readiness) -> list[str]:
    said = []
    if readiness.parts["train"] < 500:
        said.append(
            f"There are only {readiness.parts['train']} graphs to learn from: little occurs often enough to be known, "
            'so fewer changes count as believable. Look at `prefer="minimal"` too; a few thousand graphs are better.'
        )
    few = [f"`{name}` ({count})" for name, count in readiness.classes.items() if count < 50]
    if few:
        said.append(f"Few graphs to learn from in class {', '.join(few)}: what the models say of it is a guess.")
    if readiness.parts["test"] < 50:
        said.append(f"The figures are of {readiness.parts['test']} test graphs: they are rough.")
    if not readiness.labels_given:
        said.append("The data have no such labels: all models learned the classifier's answers, judges too.")
    if len(readiness.classes) > 2 or readiness.r2:
        said.append("There is no judge of trees: they are for two classes.")
    return said


def _about_models(readiness: Readiness) -> list[str]:
    said = [about_autoencoder(readiness.reconstruction)]
    if readiness.plausible_limit is None:
        said.append(
            "It cannot say if a graph as a whole is plausible: by its likelihood, real graphs and ones with shuffled "
            "attributes are much alike. Surroundings of nodes are checked all the same."
        )
    for figure, least, values in (("AUROC", 0.7, readiness.auroc), ("R²", 0.5, readiness.r2)):
        weak = [f"{name} ({value:.2f})" for name, value in values.items() if value < least]
        if weak:
            said.append(
                f"{figure} below {least:.2f}: {', '.join(weak)}. A model that hardly knows the labels says little of a "
                "change: check them, give more graphs, or remove the folder of a surrogate or judge."
            )
    figure = "R²" if readiness.r2 else "AUROC"
    for models, why in (
        (readiness.unused, "they do not know what the classifier goes by"),
        (readiness.unused_judges, "they hardly know the labels"),
    ):
        if models:
            names = ", ".join(f"{name} ({figure} {value:.2f})" for name, value in models.items())
            said.append(f"Set aside in the folder `unused`, because {why}: {names}.")
    said += [
        f"`{name}` asks for a probability of {level.confidence:.2f} by the classifier and {level.agreement:.2f} by the "
        "surrogates, less than usual: they are not surer of real graphs."
        for name, level in readiness.levels.items()
    ]
    apart = [f"{name} ({share:.0%})" for name, share in readiness.agreement.items() if share < 0.7]
    if apart:
        said.append(
            f"Seldom of the classifier's opinion: {', '.join(apart)}. Believable changes are harder to find; remove "
            "the folders of these surrogates if searches find none."
        )
    return said


_ROUGH = 0.5  # standard deviations by which numbers that are rebuilt may be off


def about_autoencoder(rebuilt: dict[str, float]) -> str:
    """Say what the autoencoder can be used for."""
    text = f"The autoencoder rebuilds {rebuilt['atoms']:.1%} of nodes and {rebuilt['edges']:.1%} of edges"
    errors = [f"{rebuilt[key]:.2f} for those of {key[:4]}s" for key in ("node_error", "edge_error") if key in rebuilt]
    text += f"; numbers are off by {' and '.join(errors)}, in standard deviations" if errors else ""
    are_close = all(rebuilt.get(key, 0.0) <= _ROUGH for key in ("node_error", "edge_error"))
    if rebuilt["atoms"] >= 0.98 and rebuilt["edges"] >= 0.95 and are_close:
        return f"{text}: latent paths and walks can be used."
    return f"{text}: latent paths are rough. Give it more time (--minutes); the search itself does not need it."


def _about_trial(trial: Trial) -> list[str]:
    edits = "" if trial.mean_edits is None else f", with {trial.mean_edits:.1f} edits on average"
    time = "" if trial.seconds is None else f", in {trial.seconds:.1f} s each"
    said = [f"Of {trial.graphs} test graphs that were explained, {trial.flipped:.0%} were flipped{edits}{time}."]
    if trial.flipped < 0.8:
        said.append('Where nothing is found: `prefer="minimal"` asks the classifier alone.')
    return said
