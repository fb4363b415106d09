"""JobSettings: everything that the answers of a job depend on, besides its input and the models."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, model_serializer, model_validator

from ..errors import ConfigError
from ..explain.kit import packaged_kits
from ..explain.query import Query

_FORMAT_1 = {
    *("target", "prefer", "num", "frontier", "parent", "confidence", "freeze_nodes", "freeze_edges", "freeze_rings"),
    *("forbid_node_types", "forbid_edge_types", "forbid_ops", "budget"),
}
"""Options that manifests of format 1 always hold. Later ones are written if they are asked for: digests stay equal."""


class JobSettings(BaseModel):
    """A kit, or a classifier in its place, and the question; equal settings give equal answers.

    In a file the options of the question stand beside `model` and `classifier`. With a `study` (`Study.to_text`), rows
    are not searched: its recourses are tried on them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: str
    classifier: str | None = Field(default=None, description="package.module:factory, instead of the kit's")
    query: SerializeAsAny[Query] = Query()
    study: str | None = Field(
        default=None, description="recourses to try on every row, instead of a search for answers"
    )

    @classmethod
    def of(cls, model: str, classifier: str | None = None, query: Query | None = None, **options: Any) -> "JobSettings":
        """Make checked settings, a folder by its whole path; `options` are fields of `Query` that change the query."""
        query = (Query if query is None else type(query)).of(query, **options)
        if not isinstance(query.target, str | None):
            raise ConfigError(
                f"The target of a job must be a text, which a manifest can hold; got {query.target!r}. "
                "Write the name or the number of a class, or 'raise by 0.5'."
            )
        known = model.lower() in packaged_kits()
        return cls(model=model if known else str(Path(model).resolve()), classifier=classifier, query=query)

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, stored: Any) -> Any:
        if not isinstance(stored, dict) or "query" in stored:
            return stored
        own = {name: value for name, value in stored.items() if name in ("model", "classifier", "study")}
        return own | {"query": {name: value for name, value in stored.items() if name not in own}}

    @model_serializer
    def _to_file(self) -> dict[str, Any]:
        wanted = _FORMAT_1 | self.query.changes().keys()
        options = self.query.model_dump(mode="json")
        asked = {name: value for name, value in options.items() if name in wanted}
        study = {} if self.study is None else {"study": self.study}
        return {"model": self.model, "classifier": self.classifier} | study | asked
