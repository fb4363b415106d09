"""JobSettings: everything that the answers of a job depend on, besides its input and the models."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigError
from ..explain.asked import check_answers
from ..explain.constraints import Constraints
from ..explain.kit import packaged_kits
from ..schema import first_problem


class JobSettings(BaseModel):
    """What `graphflip explain` was asked; equal settings give equal answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: str
    classifier: str | None = Field(default=None, description="package.module:factory, instead of the kit's")
    target: str | None = None
    prefer: str = "balanced"
    num: int = Field(default=1, ge=1)
    frontier: bool = False
    parent: bool = False
    confidence: float | None = Field(default=None, gt=0, lt=1)
    freeze_nodes: tuple[int, ...] = ()
    freeze_edges: tuple[tuple[int, int], ...] = ()
    freeze_rings: bool = False
    forbid_node_types: tuple[str, ...] = ()
    forbid_edge_types: tuple[str, ...] = ()
    forbid_ops: tuple[str, ...] = ()
    budget: int | None = Field(default=None, ge=1)

    @classmethod
    def of(cls, **asked: Any) -> "JobSettings":
        """Checked settings; sets of frozen and forbidden things in one order, a folder by its whole path."""
        for name in ("freeze_nodes", "freeze_edges", "forbid_node_types", "forbid_edge_types", "forbid_ops"):
            asked[name] = tuple(sorted(set(asked.get(name, ()))))
        if asked["model"].lower() not in packaged_kits():
            asked["model"] = str(Path(asked["model"]).resolve())
        try:
            settings = cls.model_validate(asked)
        except ValidationError as error:
            raise ConfigError(f"A setting cannot be used: {first_problem(error)}.") from error
        check_answers(settings.num, settings.frontier)
        settings.constraints()
        return settings

    def constraints(self) -> Constraints:
        """The part of the settings that a search must respect."""
        return Constraints(
            freeze_nodes=frozenset(self.freeze_nodes),
            freeze_edges=frozenset(self.freeze_edges),
            freeze_rings=self.freeze_rings,
            forbid_node_types=frozenset(self.forbid_node_types),
            forbid_edge_types=frozenset(self.forbid_edge_types),
            forbid_ops=frozenset(self.forbid_ops),
            budget=self.budget,
        )
