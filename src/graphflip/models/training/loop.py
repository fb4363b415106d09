"""Training loop for classifiers and autoencoders; a run that was killed and resumed ends with the same weights.

Random numbers come from two generators (order of batches, noise of the objective) and, for dropout, from a seed made of
the step number; the learning rate depends on progress and history only. A checkpoint at the end of an epoch therefore
holds everything that the rest of the run depends on.
"""

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...data.dataset import GraphDataset
from ...data.splits import Batch, batches_by_size, pieces
from ...errors import DataError
from ...nn.initialize import reset_parameters
from .checkpoint import CHECKPOINT, Checkpoint
from .objectives import Objective
from .schedule import Epoch, TrainConfig, TrainingProgress, learning_rate, out_of_patience


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
    """Train a model in place and return its training curve.

    Under torch.distributed, each process takes its share of each batch.

    Args:
        model: Module to train. Its weights are initialized here; at the end it has those that `config.keep` names.
        objective: Loss, and figures for the validation part.
        dataset: Dataset with the parts "train" and "validation".
        config: Settings of the run.
        folder: Folder for checkpoints; None writes none.
        resume: Continue from the checkpoint in `folder`, if there is one; the final weights are exactly those of an
            uninterrupted run.
        watch: Called after each epoch.
        checkpoint_seconds: Smallest time between two checkpoints; the last epoch is always written.

    Returns:
        The epochs of the run, those before a resumption included.

    Raises:
        DataError: There are fewer than 2 graphs to train on, or none to validate with.
        ConfigError: The checkpoint is of a run with another model or other settings.
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
    while len(run.history) < config.epochs and not out_of_patience(run.history, config.patience):
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


def seconds_per_epoch(model: nn.Module, objective: Objective, dataset: GraphDataset, config: TrainConfig) -> float:
    """Estimate the processor time of an epoch from some of its steps, on graphs of all sizes.

    The model is left with weights of no use.
    """
    train, run = dataset.part("train"), _Run(model, config, {})
    batches = sorted(run.batches(train), key=lambda members: int(train.num_nodes[members].max()))
    count = min(_TIMED_STEPS, len(batches))
    some = [batches[(2 * k + 1) * len(batches) // (2 * count)] for k in range(count)]
    run.train_on(objective, train, some[count // 2], 0.0)  # the first step is slower
    started = time.process_time()
    for members in some:
        run.train_on(objective, train, members, 0.0)
    return (time.process_time() - started) / count * len(batches) * _VALIDATING


_TIMED_STEPS = 4
_VALIDATING = 1.1  # an epoch ends with measuring on the validation part


def read_result(model: nn.Module, folder: Path) -> list[Epoch]:
    """Load the final weights of the run in `folder` into `model`, and return its training curve."""
    stored = Checkpoint.read(folder / CHECKPOINT, model)
    model.load_state_dict(stored.weights["best" if stored.settings["keep"] == "best" else "average"])
    return [Epoch(**line) for line in stored.history]


class _Run:
    """State of a run: model, averaged and best weights, optimizer, random generators and training curve."""

    def __init__(self, model: nn.Module, config: TrainConfig, about: dict[str, Any]):
        self.rank, self.world = 0, 1
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.rank, self.world = torch.distributed.get_rank(), torch.distributed.get_world_size()
        self.model, self.config = model, config
        self.settings = config.model_dump() | about | {"processes": self.world}
        self.order, self.noise = torch.Generator(), torch.Generator()
        self.order.manual_seed(config.seed)
        self.noise.manual_seed(config.seed * 1009 + self.rank + 1)
        self.noise_states: list[Tensor] = []  # of all processes, after the last epoch
        reset_parameters(model, torch.Generator().manual_seed(config.seed))
        self.average = copy.deepcopy(model)
        self.best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.rate, weight_decay=config.weight_decay)
        self.forward: nn.Module | None = None
        self.history: list[Epoch] = []
        self.steps = 0

    @property
    def result(self) -> Mapping[str, Tensor]:
        """Weights that the run would return if it ended now."""
        return self.best if self.config.keep == "best" else self.average.state_dict()

    def train_epoch(self, objective: Objective, train: GraphDataset) -> float:
        """Take one step for each batch of the train part, and return the mean loss."""
        self.forward = None
        batches, total = self.batches(train), 0.0
        for k, members in enumerate(batches):
            progress = (len(self.history) + k / len(batches)) / self.config.epochs
            total += self.train_on(objective, train, members, progress) / len(batches)
        return total

    def batches(self, train: GraphDataset) -> list[Tensor]:
        """Numbers of the graphs of each batch of an epoch."""
        return batches_by_size(
            train.num_nodes, torch.arange(len(train)), self.config.batch_size, self.order, self.config.pool
        )

    def train_on(self, objective: Objective, train: GraphDataset, members: Tensor, progress: float) -> float:
        """Take one step on the graphs of a batch, after a share `progress` of the run, and return the loss."""
        self.model.train()
        if self.forward is None:
            self.forward = _Loss(self.model, objective)
            if self.world > 1:
                # A schema without edge columns, say, leaves the network for them unused.
                self.forward = nn.parallel.DistributedDataParallel(self.forward, find_unused_parameters=True)
        rate = learning_rate(self.config, progress, self.history)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        total = 0.0
        with _seeded_dropout((self.config.seed * 1009 + self.rank) * 1_000_003 + self.steps):
            for part in pieces(train.num_nodes, members, self.config.pairs):
                batch = Batch(part, train.graphs(part), train.labels[part])
                loss = self.forward(_share(batch, self.rank, self.world), self.noise, progress)
                loss = loss * (len(part) / len(members))
                loss.backward()
                total += loss.item()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        self.steps += 1
        self._update_average()
        return total

    def finish_epoch(self, objective: Objective, validation: GraphDataset, loss: float) -> None:
        """Measure on the validation part, keep the weights if they are the best, and extend the training curve."""
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
        """Exchange what differs between processes: buffers, such as running means, and states of noise generators."""
        state = self.noise.get_state()
        self.noise_states = [torch.empty_like(state) for _ in range(self.world)] if self.world > 1 else [state]
        if self.world > 1:
            torch.distributed.all_gather(self.noise_states, state)
            for buffer in self.average.buffers():
                torch.distributed.broadcast(buffer, 0)

    @torch.no_grad()
    def _update_average(self) -> None:
        # A short average at first, so that the initial weights do not dominate it; then a longer one.
        keep = min(self.config.average, self.steps / (self.steps + 10))
        pairs = list(zip(self.average.state_dict().values(), self.model.state_dict().values(), strict=True))
        real = [pair for pair in pairs if pair[0].is_floating_point()]
        means, tensors = [mean for mean, _ in real], [tensor for _, tensor in real]
        torch._foreach_lerp_(means, tensors, 1 - keep)  # pyright: ignore[reportPrivateImportUsage]
        for mean, tensor in pairs:
            if not mean.is_floating_point():
                mean.copy_(tensor)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
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
        """Continue from a checkpoint of a run with the same settings."""
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
    """Model and objective as one module, because DDP synchronizes the gradients of what its `forward` computes."""

    def __init__(self, model: nn.Module, objective: Objective):
        super().__init__()
        self.model, self.objective = model, objective

    def forward(self, batch: Batch, rng: torch.Generator, progress: float) -> Tensor:
        return self.objective.loss(self.model, batch, rng, progress)


@contextmanager
def _seeded_dropout(seed: int) -> Iterator[None]:
    """Seed torch's global generator, from which dropout draws, for one step; restore its state afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def _share(batch: Batch, rank: int, world: int) -> Batch:
    """Graphs of a batch that this process works on; a process that would have none takes the first."""
    if world == 1:
        return batch
    mine = torch.arange(rank, len(batch.index), world) if rank < len(batch.index) else torch.tensor([0])
    return Batch(batch.index[mine], batch.graph.select(mine), batch.labels[mine])
