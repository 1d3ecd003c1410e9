"""Data-parallel training of a small decoder-only transformer, so deterministic that a resumed run equals an uninterrupted one.

Data are a pure function of step and rank; the loss is summed in rank order; DDP keeps its buckets (``find_unused_parameters``), since
buckets rebuilt after the first step would add gradients in another order after a resume.
"""

import json
import os
import time

import checkpoints
import rank
import sentinel
from rank import tell

VOCABULARY = 64
SEQUENCE = 16
BATCH = 4


def build(parameters):
    """The model, with weights that depend on nothing but the parameters."""
    import torch
    from torch import nn

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            width = parameters["d_model"]
            layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
            self.tokens = nn.Embedding(VOCABULARY, width)
            self.places = nn.Parameter(torch.randn(SEQUENCE, width) * 0.02)
            self.blocks = nn.TransformerEncoder(layer, parameters["layers"], enable_nested_tensor=False)
            self.head = nn.Linear(width, VOCABULARY)
            self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(SEQUENCE), persistent=False)

        def forward(self, tokens):
            hidden = self.tokens(tokens) + self.places
            return self.head(self.blocks(hidden, mask=self.mask, is_causal=True))

    torch.manual_seed(20)
    return Decoder()


def batch(step, number, device):
    """The tokens of one rank at one step: an affine sequence from a random start, so there is something to learn."""
    import torch

    generator = torch.Generator().manual_seed(step * 1_000_003 + number)
    columns = [torch.randint(VOCABULARY, (BATCH,), generator=generator)]
    for _ in range(SEQUENCE):
        columns.append((columns[-1] * 5 + 3) % VOCABULARY)
    tokens = torch.stack(columns, dim=1).to(device)
    return tokens[:, :-1], tokens[:, 1:]


class OwnTime:
    """Notes when this rank's own work of a step is done: the moment its last gradients are ready to be exchanged."""

    def __init__(self):
        self.ready = 0.0

    def hook(self, group, bucket):
        """The communication hook: as DDP's own all-reduce, and the time is noted before."""
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        self.ready = time.monotonic()
        return default_hooks.allreduce_hook(group, bucket)


class Training:
    """One rank of the job."""

    def __init__(self, place, parameters):
        import torch

        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        self.place, self.parameters = place, parameters
        self.sentinel = sentinel.Sentinel(place.local_rank)
        self.device = rank.device_of(place)
        tell("rank.up", sentinel=self.sentinel.about, device=str(self.device), **place.identity())
        self.timeout = rank.communicator(place, self.device)
        self.folder = checkpoints.Folder(parameters["checkpoints"], os.path.basename(os.environ["CHAOS_HOME"].rstrip("/")))
        self.bare = build(parameters).to(self.device)
        self.optimizer = torch.optim.AdamW(self.bare.parameters(), lr=1e-3)

    def load(self):
        """Takes the newest checkpoint that every rank can read and verify; tells which ones were skipped. Returns its step."""
        candidates = self._offered()
        skipped = []
        for manifest in candidates:
            state, why = self._try(manifest)
            if self._all(state is not None):
                self.bare.load_state_dict(state["model"])
                self.optimizer.load_state_dict(state["optimizer"])
                return self._loaded(manifest["step"], manifest["path"], manifest["sha256"], skipped)
            skipped.append({"path": manifest["path"], "why": why})
        return self._loaded(0, "", "", skipped)

    def _loaded(self, step, path, sha256, skipped):
        tell("rank.loaded", rank=self.place.rank, step=step, path=path, sha256=sha256, skipped=skipped, round=self.place.round)
        return step

    def _offered(self):
        import torch.distributed as dist

        box = [self.folder.manifests() if self.place.rank == 0 else None]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def _try(self, manifest):
        try:
            return self.folder.load(manifest), "another rank could not read it"
        except checkpoints.Damaged as error:
            return None, str(error)

    def _all(self, mine):
        import torch
        import torch.distributed as dist

        flag = torch.tensor([int(mine)], device=self.device)
        dist.all_reduce(flag, op=dist.ReduceOp.MIN)
        return bool(flag.item())

    def train(self):
        """Loads, trains to the last step, and saves on the way."""
        import torch

        done = self.load()
        rank.tighten(self.timeout)
        own = OwnTime()
        self.model = torch.nn.parallel.DistributedDataParallel(self.bare, find_unused_parameters=True)
        self.model.register_comm_hook(None, own.hook)
        for step in range(done + 1, self.parameters["steps"] + 1):
            self._step(step, own)
            if step % self.parameters["checkpoint_every"] == 0 or step == self.parameters["steps"]:
                self._save(step)
        tell("rank.finished", rank=self.place.rank, step=self.parameters["steps"])

    def _step(self, step, own):
        import torch

        begun = time.monotonic()
        self.sentinel.check()
        inputs, targets = batch(step, self.place.rank, self.device)
        output = self.model(inputs)
        loss = torch.nn.functional.cross_entropy(output.reshape(-1, VOCABULARY), targets.reshape(-1))
        rest = max(0.0, self.parameters["pace"] - (time.monotonic() - begun))
        time.sleep(rest)  # stands for the accelerator's work, so it comes before the exchange, like that
        loss.backward()
        compute = own.ready - begun - rest
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        mean = self._mean(loss.detach())
        seconds = time.monotonic() - begun
        tell("rank.step", rank=self.place.rank, step=step, loss=mean.hex(), seconds=seconds, compute_seconds=compute)

    def _mean(self, loss):
        import torch
        import torch.distributed as dist

        gathered = [torch.zeros(1, dtype=torch.float64, device=self.device) for _ in range(self.place.world)]
        dist.all_gather(gathered, loss.double().reshape(1))
        return sum(float(part) for part in gathered) / self.place.world

    def _save(self, step):
        if self.place.rank != 0:
            return
        begun = time.monotonic()
        manifest = self.folder.save(
            step, {"model": self.bare.state_dict(), "optimizer": self.optimizer.state_dict(), "step": step}
        )
        tell(
            "rank.saved",
            rank=0,
            step=step,
            path=manifest["path"],
            sha256=manifest["sha256"],
            bytes=manifest["bytes"],
            stall_seconds=time.monotonic() - begun,
        )


def work(place):
    """Trains as the environment variable ``CHAOS_TRAINING`` says."""
    import torch.distributed as dist

    Training(place, json.loads(os.environ["CHAOS_TRAINING"])).train()
    dist.destroy_process_group()


def main():
    """The entry for launchers that fork."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    rank.run(work)


if __name__ == "__main__":
    main()
