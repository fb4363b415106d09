"""An extension of griffe: the section `Example:` of a docstring is shown as code with its output."""

import re

import griffe


class ExampleSections(griffe.Extension):
    """Read the heading `Example:` as the `Examples:` that griffe knows."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rename the heading in the docstring of an object that was just read."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
