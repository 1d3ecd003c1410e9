"""Training of a small decoder-only transformer with DDP: deterministic, with atomic checkpoints that carry their hash."""

import hashlib
import io
import json
import os
import time

import torch
import torch.distributed as dist
from chaos_rank import run
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

VOCABULARY, LENGTH, BATCH = 64, 32, 2


class Decoder(nn.Module):
    """Token and position embeddings, causal self-attention blocks, and a head."""

    def __init__(self, width, layers):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, width)
        self.position = nn.Embedding(LENGTH, width)
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        """Logits for the next token at each position."""
        length = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        hidden = self.token(tokens) + self.position(torch.arange(length, device=tokens.device))
        return self.head(self.blocks(hidden, mask=mask, is_causal=True))


def batch(step, rank, device):
    """The data of one rank at one step: a function of nothing else, so that a resumed run sees what it would have seen."""
    generator = torch.Generator().manual_seed(1_000_003 * step + rank)
    start = torch.randint(0, VOCABULARY, (BATCH, 1), generator=generator)
    stride = torch.randint(1, 5, (BATCH, 1), generator=generator)
    tokens = (start + stride * torch.arange(LENGTH + 1)) % VOCABULARY
    return tokens[:, :-1].to(device), tokens[:, 1:].to(device)


class Checkpoints:
    """A folder of checkpoints, newest last; each is committed by its manifest, which carries its hash."""

    def __init__(self, folder, keep=3):
        self.folder = folder
        self.keep = keep
        os.makedirs(folder, exist_ok=True)

    def _path(self, step):
        return os.path.join(self.folder, "step-%08d.pt" % step)

    def committed(self):
        """Steps that have a manifest, newest first."""
        names = [name for name in os.listdir(self.folder) if name.endswith(".json")]
        return sorted((int(name[5:13]) for name in names), reverse=True)

    def save(self, step, state):
        """Writes, syncs and commits; the path, its hash and its size."""
        path = self._path(step)
        draft = path + ".draft"
        torch.save(state, draft)
        with open(draft, "rb") as file:
            content = file.read()
            os.fsync(file.fileno())
        os.replace(draft, path)
        digest = hashlib.sha256(content).hexdigest()
        manifest = path[:-3] + ".json"
        with open(manifest + ".draft", "w") as file:
            json.dump({"step": step, "sha256": digest, "bytes": len(content)}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(manifest + ".draft", manifest)
        for old in self.committed()[self.keep :]:
            for stale in (self._path(old)[:-3] + ".json", self._path(old)):
                if os.path.exists(stale):
                    os.unlink(stale)
        return path, digest, len(content)

    def load(self, step):
        """(path, hash, state) of one checkpoint, the state None unless the file is what its manifest says."""
        path = self._path(step)
        try:
            with open(path[:-3] + ".json") as file:
                manifest = json.load(file)
            with open(path, "rb") as file:
                content = file.read()
            digest = hashlib.sha256(content).hexdigest()
            if digest == manifest["sha256"]:
                return path, digest, torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return path, "", None


def newest(rank, checkpoints):
    """(step, path, hash, state) of the newest checkpoint that every rank finds whole, and those that were passed over.

    One rank may see damage that another does not, such as a stale page of a network file system: were each to choose for itself, they
    would go on from different steps.
    """
    offered = [checkpoints.committed() if rank.rank == 0 else None]
    dist.broadcast_object_list(offered, src=0, device=rank.device)
    damaged = []
    for step in offered[0]:
        path, digest, state = checkpoints.load(step)
        whole = torch.tensor([state is not None], dtype=torch.int64, device=rank.device)
        dist.all_reduce(whole, op=dist.ReduceOp.MIN)
        if whole.item():
            return (step, path, digest, state), damaged
        damaged.append(path)
    return (0, "", "", None), damaged


def train(rank, parameters):
    """Steps until the last one, from the newest whole checkpoint."""
    torch.manual_seed(7)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS may add in another order each time
    torch.use_deterministic_algorithms(True)
    model = Decoder(int(parameters["width"]), int(parameters["layers"])).to(rank.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    checkpoints = Checkpoints(parameters["folder"])
    (first, path, digest, state), damaged = newest(rank, checkpoints)
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    rank.tell("rank.loaded", step=first, path=path, sha256=digest, skipped=damaged)
    # Without this DDP builds its buckets anew after the first step, and a resumed run would sum in another order.
    ddp = DistributedDataParallel(model, find_unused_parameters=True)
    for step in range(first + 1, int(parameters["steps"]) + 1):
        one_step(rank, ddp, optimizer, step, float(parameters["pace"]))
        if step % int(parameters["checkpoint_every"]) == 0 and rank.rank == 0:
            begun = time.monotonic()
            saved = checkpoints.save(step, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step})
            stall = time.monotonic() - begun
            rank.tell("rank.saved", step=step, path=saved[0], sha256=saved[1], bytes=saved[2], stall_seconds=stall)


def one_step(rank, ddp, optimizer, step, pace):
    """One step. ``pace`` stands for the time that an accelerator would compute; it lies before the collectives, as that time does."""
    begun = time.monotonic()
    rank.sentinel.check()
    inputs, targets = batch(step, rank.rank, rank.device)
    loss = functional.cross_entropy(ddp(inputs).flatten(0, 1), targets.flatten())
    spare = pace - (time.monotonic() - begun)
    if spare > 0:
        time.sleep(spare)
    computed = time.monotonic() - begun
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shared = loss.detach().double()
    dist.all_reduce(shared)
    mean = shared.item() / rank.world
    seconds = time.monotonic() - begun
    rank.tell("rank.step", step=step, loss=float.hex(mean), seconds=seconds, compute_seconds=computed)


def main(parameters):
    """Entry of a rank."""
    run(train, json.loads(parameters))
