"""Training: one plain loop for classifiers and autoencoders; a killed run, resumed, ends with the same weights.

All chance comes from two generators (order of batches; noise of the objective) and, for dropout, from the number of the
step; the learning rate is a function of progress and history. So a checkpoint at the end of an epoch holds everything
that the rest of the run depends on.
"""

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from ...data.dataset import Batch, GraphDataset
from ...errors import DataError
from ...nn.initialize import reset_parameters
from .checkpoint import CHECKPOINT, Checkpoint


class TrainConfig(BaseModel):
    """How to train. `decay="cosine"` lowers the rate to zero, `"plateau"` halves it after `plateau` idle epochs.

    `average` is the decay of the moving average of weights that is validated and kept (0: the weights themselves).
    `patience` stops early after that many epochs without a better validation score (0: never). `pool` is how many
    batches are sorted by size together: more is faster, but normalization then hides the size of graphs. `keep` says
    whether the weights that scored best on the validation part are the result, or the last ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    epochs: int = Field(default=30, gt=0)
    batch_size: int = Field(default=64, gt=1)
    rate: float = Field(default=2e-3, gt=0)
    weight_decay: float = Field(default=1e-2, ge=0)
    clip: float = Field(default=1.0, gt=0)
    decay: Literal["cosine", "plateau"] = "cosine"
    warm_up: float = Field(default=0.05, ge=0, le=1)
    plateau: int = Field(default=150, gt=0)
    average: float = Field(default=0.995, ge=0, lt=1)
    patience: int = Field(default=0, ge=0)
    validate_every: int = Field(default=1, gt=0)
    pool: int = Field(default=8, gt=0)
    keep: Literal["best", "last"] = "best"
    seed: int = 0


@runtime_checkable
class Objective(Protocol):
    """What is minimized, and what is measured on the validation part; `score` is the figure to maximize.

    `settings` are what makes it this objective, for the card and for the check of a resumed run.
    """

    @property
    def score(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def loss(self, model: nn.Module, batch: Batch, rng: torch.Generator, progress: float) -> Tensor: ...

    def measure(self, model: nn.Module, dataset: GraphDataset) -> dict[str, float]: ...


class Epoch(BaseModel):
    """One line of the training curve."""

    epoch: int
    loss: float
    rate: float
    figures: dict[str, float] = {}
    best: bool = False


class TrainingProgress(BaseModel):
    """Where a run stands, for a progress bar."""

    epoch: int
    epochs: int
    last: Epoch
    seconds: float


def fit(
    model: nn.Module,
    objective: Objective,
    dataset: GraphDataset,
    config: TrainConfig,
    folder: Path | None = None,
    resume: bool = False,
    watch: Callable[[TrainingProgress], None] = lambda _: None,
    checkpoint_seconds: float = 10.0,
) -> list[Epoch]:
    """Train `model` on the train part and leave the weights in it that `config.keep` asks for.

    With a `folder`, a checkpoint is written there after an epoch if the last one is `checkpoint_seconds` old; `resume`
    goes on from it and ends with exactly the weights of an uninterrupted run. Under torch.distributed every process
    takes its share of each batch.
    """
    train, validation = dataset.part("train"), dataset.part("validation")
    if len(train) < 2 or not len(validation):
        raise DataError(
            f"{dataset.name}: training needs 2 graphs and 1 to validate; got {len(train)}, {len(validation)}."
        )
    run = _Run(model, config, {"data": dataset.fingerprint(), **objective.settings})
    if resume and folder is not None and (folder / CHECKPOINT).exists():
        run.load(folder / CHECKPOINT)
    started, saved = time.monotonic(), time.monotonic()
    while len(run.history) < config.epochs and not _out_of_patience(run.history, config.patience):
        loss = run.train_epoch(objective, train)
        run.finish_epoch(objective, validation, loss)
        # An epoch can be shorter than writing it down; what is lost by a kill is repeated exactly.
        if folder is not None and run.rank == 0 and time.monotonic() - saved >= checkpoint_seconds:
            run.save(folder / CHECKPOINT)
            saved = time.monotonic()
        seconds = time.monotonic() - started
        watch(TrainingProgress(epoch=len(run.history), epochs=config.epochs, last=run.history[-1], seconds=seconds))
    if folder is not None and run.rank == 0:
        run.save(folder / CHECKPOINT)
    model.load_state_dict(run.result)
    return run.history


def read_result(model: nn.Module, folder: Path) -> list[Epoch]:
    """Put the weights that the run in `folder` keeps into `model`; its training curve."""
    stored = Checkpoint.read(folder / CHECKPOINT, model)
    model.load_state_dict(stored.weights["best" if stored.settings["keep"] == "best" else "average"])
    return [Epoch(**line) for line in stored.history]


class _Run:
    """Everything a run's future depends on."""

    def __init__(self, model: nn.Module, config: TrainConfig, about: dict[str, Any]):
        self.rank, self.world = 0, 1
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.rank, self.world = torch.distributed.get_rank(), torch.distributed.get_world_size()
        self.model, self.config = model, config
        self.settings = config.model_dump() | about | {"processes": self.world}
        self.order, self.noise = torch.Generator(), torch.Generator()
        self.order.manual_seed(config.seed)
        self.noise.manual_seed(config.seed * 1009 + self.rank + 1)
        self.noise_states: list[Tensor] = []  # of all processes, as of the last epoch
        reset_parameters(model, torch.Generator().manual_seed(config.seed))
        self.average = copy.deepcopy(model)
        self.best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.rate, weight_decay=config.weight_decay)
        self.history: list[Epoch] = []
        self.steps = 0

    @property
    def result(self) -> Mapping[str, Tensor]:
        """The weights that the run would end with now."""
        return self.best if self.config.keep == "best" else self.average.state_dict()

    def train_epoch(self, objective: Objective, train: GraphDataset) -> float:
        self.model.train()
        forward = _Loss(self.model, objective)
        if self.world > 1:
            # A schema without edge columns, say, leaves the network for them unused.
            forward = nn.parallel.DistributedDataParallel(forward, find_unused_parameters=True)
        per_epoch, total = math.ceil(len(train) / self.config.batch_size), 0.0
        for k, batch in enumerate(train.batches(self.config.batch_size, self.order, pool=self.config.pool)):
            progress = (len(self.history) + k / per_epoch) / self.config.epochs
            rate = learning_rate(self.config, progress, self.history)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            with _lent_chance((self.config.seed * 1009 + self.rank) * 1_000_003 + self.steps):
                loss = forward(_share(batch, self.rank, self.world), self.noise, progress)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
            self.optimizer.step()
            self.steps += 1
            self._update_average()
            total += loss.item() / per_epoch
        return total

    def finish_epoch(self, objective: Objective, validation: GraphDataset, loss: float) -> None:
        """Measure on the validation part, keep what is best, write the line of the curve."""
        self._synchronize()
        epoch = Epoch(epoch=len(self.history) + 1, loss=loss, rate=self.optimizer.param_groups[0]["lr"])
        last = epoch.epoch == self.config.epochs
        if epoch.epoch % self.config.validate_every == 0 or last:
            self.average.eval()
            figures = objective.measure(self.average, validation)
            scores = [line.figures[objective.score] for line in self.history if line.figures]
            scores = [score for score in scores if not math.isnan(score)]
            best = not scores or figures[objective.score] > max(scores)
            if best:
                self.best = {name: tensor.clone() for name, tensor in self.average.state_dict().items()}
            epoch = epoch.model_copy(update={"figures": figures, "best": best})
        self.history.append(epoch)

    def _synchronize(self) -> None:
        """Share what differs between processes: statistics, or they would judge differently, and states of chance."""
        state = self.noise.get_state()
        self.noise_states = [torch.empty_like(state) for _ in range(self.world)] if self.world > 1 else [state]
        if self.world > 1:
            torch.distributed.all_gather(self.noise_states, state)
            for buffer in self.average.buffers():
                torch.distributed.broadcast(buffer, 0)

    @torch.no_grad()
    def _update_average(self) -> None:
        # The average starts short and grows long, so that early epochs are not dominated by the first state.
        keep = min(self.config.average, self.steps / (self.steps + 10))
        for mean, tensor in zip(self.average.state_dict().values(), self.model.state_dict().values(), strict=True):
            mean.lerp_(tensor, 1 - keep) if mean.is_floating_point() else mean.copy_(tensor)

    def save(self, path: Path) -> None:
        Checkpoint(
            settings=self.settings,
            steps=self.steps,
            history=[line.model_dump() for line in self.history],
            weights={"model": self.model.state_dict(), "average": self.average.state_dict(), "best": self.best},
            optimizer=self.optimizer.state_dict()["state"],
            order=self.order.get_state(),
            noise=self.noise_states,
        ).write(path)

    def load(self, path: Path) -> None:
        stored = Checkpoint.read(path, self.model)
        stored.require(self.settings, path)
        self.model.load_state_dict(stored.weights["model"])
        self.average.load_state_dict(stored.weights["average"])
        self.best = dict(stored.weights["best"])
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": stored.optimizer, "param_groups": groups})
        self.order.set_state(stored.order)
        self.noise.set_state(stored.noise[self.rank])
        self.noise_states = stored.noise
        self.steps, self.history = stored.steps, [Epoch(**line) for line in stored.history]


class _Loss(nn.Module):
    """Model and objective as one module, because DDP synchronizes gradients of what its `forward` computes."""

    def __init__(self, model: nn.Module, objective: Objective):
        super().__init__()
        self.model, self.objective = model, objective

    def forward(self, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        return self.objective.loss(self.model, batch, rng, progress)


@contextmanager
def _lent_chance(seed: int) -> Iterator[None]:
    """Dropout draws from torch's global generator: seed it for one step, then give its own state back."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def learning_rate(config: TrainConfig, progress: float, history: list[Epoch]) -> float:
    """The rate at a share `progress` of the run: warm-up, then the decay."""
    warm = min(1.0, progress / config.warm_up) if config.warm_up else 1.0
    if config.decay == "cosine":
        return config.rate * (0.01 + 0.99 * warm) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    return config.rate * (0.01 + 0.99 * warm) * 0.5 ** _plateaus(history, config.plateau)


def _plateaus(history: list[Epoch], length: int) -> int:
    """How often `length` epochs in a row brought no better validation score."""
    halvings = waiting = 0
    for line in history:
        waiting = 0 if line.best else waiting + 1
        if waiting >= length:
            halvings, waiting = halvings + 1, 0
    return halvings


def _out_of_patience(history: list[Epoch], patience: int) -> bool:
    if not patience or not history or not history[-1].figures:  # stop on a measured epoch only
        return False
    return len(history) - max(line.epoch for line in history if line.best) >= patience


def _share(batch: Batch, rank: int, world: int) -> Batch:
    """This process's graphs of a batch; a process left without any takes the first."""
    if world == 1:
        return batch
    mine = torch.arange(rank, len(batch.index), world) if rank < len(batch.index) else torch.tensor([0])
    return Batch(batch.index[mine], batch.graph.select(mine), batch.labels[mine])
