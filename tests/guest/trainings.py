"""PyTorch scripts that know nothing of the studio. Each prints what the curves are to show, and last its weights."""

BEGIN = """
import hashlib, sys, torch
from torch import nn
from torch.nn import functional as F
torch.set_num_threads(1)
torch.manual_seed(7)

def weights(*networks):
    values = b"".join(p.detach().numpy().tobytes() for network in networks for p in network.parameters())
    print("weights", hashlib.sha256(values).hexdigest())
"""

PLAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.ReLU())
        self.head = nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.body(x))
net, criterion = Net(), nn.CrossEntropyLoss()
groups = [{"params": net.body.parameters()}, {"params": net.head.parameters(), "lr": 5e-3}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.1)
rows = torch.utils.data.TensorDataset(torch.randn(24, 8), torch.randint(4, (24,)))
for epoch in range(2):
    for x, y in torch.utils.data.DataLoader(rows, batch_size=6, shuffle=True, num_workers=epoch):
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        print("loss", repr(loss.item()), "grad_norm", repr(norm.item()),
              "lr", optimizer.param_groups[0]["lr"], "lr.group1", optimizer.param_groups[1]["lr"])
        optimizer.step()
        schedule.step()
    net.eval()
    with torch.no_grad():
        net(torch.randn(50, 8))
    net.train()
weights(net)
"""

ACCUMULATION = """
net = nn.Sequential(nn.Embedding(10, 8, sparse=False), nn.Flatten(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(5):
    total = 0.0
    for micro in range(3):
        loss = net(torch.randint(10, (2, 4))).square().mean() / 3
        total += loss.item()
        loss.backward()
        loss.detach().zero_()
    print("loss", repr(total))
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
weights(net)
"""

SCALER = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
for step in range(7):
    optimizer.zero_grad()
    loss = net(torch.full((3, 4), float("inf") if step == 2 else 1.5)).mean()
    scale = scaler.get_scale()
    scaled = scaler.scale(loss)
    (scaled / 2 if step == 4 else scaled).backward()
    if step > 4:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    shown = loss / 2 if step == 4 else loss
    print("loss", repr(shown.item()), "loss_scale", scale, "skipped", float(step == 2))
weights(net)
"""

TWO_OPTIMIZERS = """
D, G = nn.Linear(6, 1), nn.Linear(3, 6)
of_d, of_g = torch.optim.Adam(D.parameters(), lr=1e-2), torch.optim.Adam(G.parameters(), lr=2e-2)
for step in range(4):
    D.zero_grad()
    real = F.softplus(-D(torch.randn(5, 6))).mean()
    real.backward()
    fake = G(torch.randn(5, 3))
    made = F.softplus(D(fake.detach())).mean()
    made.backward()
    of_d.step()
    G.zero_grad()
    against = F.softplus(-D(fake)).mean()
    against.backward()
    of_g.step()
    print("loss", repr(real.item() + made.item()), "lr", 0.01)
    print("loss.1", repr(against.item()), "lr.1", 0.02)
weights(D, G)
"""

NO_OPTIMIZER = """
net = nn.RNN(5, 7)
for step in range(4):
    net.zero_grad()
    output, hidden = net(torch.randn(3, 2, 5))
    loss = output.square().mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.25)
    for p in net.parameters():
        p.data.add_(p.grad, alpha=-0.1)
    print("loss", repr(loss.item()), "grad_norm", repr(norm.item()))
weights(net)
"""

CLOSURE = """
net = nn.Linear(5, 1)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
x, y = torch.randn(9, 5), torch.randn(9, 1)
for step in range(3):
    seen = []
    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss
    optimizer.step(closure)
    print("loss", repr(seen[0]), "step", step + 1)
    print("closures", len(seen))
weights(net)
"""

TWO_BACKWARDS = """
net = nn.Linear(5, 1)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
x, y = torch.randn(9, 5), torch.randn(9, 1)
for step in range(3):
    seen = []
    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        decay = 0.1 * net.weight.square().sum()
        decay.backward()
        seen.append(loss.item() + decay.item())
        return loss + decay
    optimizer.step(closure)
    print("loss", repr(seen[0]), "step", step + 1)
    print("closures", len(seen))
weights(net)
"""

LINE_SEARCH = """
net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
second = torch.optim.LBFGS(net.parameters(), max_iter=6, line_search_fn="strong_wolfe")
x, y = torch.randn(9, 5), torch.randn(9, 1)
for step in range(4):
    seen = []
    def closure():
        second.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        seen.append(loss.item())
        return loss
    second.step(closure=closure)
    print("loss", repr(seen[0]), "step", step + 1)
    print("closures", len(seen))
weights(net)
"""

RESUMED = """
net = nn.Linear(5, 1)
def train(optimizer, steps, show):
    for _ in range(steps):
        loss = net(torch.randn(2, 5)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if show:
            print("step", show + _, "loss", repr(loss.item()))
first = torch.optim.AdamW(net.parameters())
state = first.state_dict()
state["state"] = {i: {"step": torch.tensor(40.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
                  for i, p in enumerate(net.parameters())}
second = torch.optim.AdamW(net.parameters())
second.load_state_dict(state)
train(second, 2, 41)
del second
train(torch.optim.AdamW(net.parameters()), 2, 43)
weights(net)
"""

BROKEN_HOOKS = """
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    if step == 3 and "ascend_studio.torch_steps" in sys.modules:
        sys.modules["ascend_studio.torch_steps"]._rates = None
    loss = net(torch.randn(2, 5)).square().mean()
    loss.backward()
    optimizer.step()
    if step < 3:
        print("loss", repr(loss.item()))
weights(net)
"""

RAISING = """
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(2, 5)
for wrong in (lambda: net(x[:, 1:]), lambda: net(x).backward(), lambda: x.sum().backward()):
    try:
        wrong()
    except RuntimeError as error:
        print("raised", str(error)[:40])
loss = net(x).square().mean()
loss.backward()
optimizer.step()
print("loss", repr(loss.item()))
weights(net)
"""

# A state that is no count, a graph that torch.fx traces, and a norm that is asked for twice.
ODD = """
import torch.fx
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 1)
    def forward(self, x, more):
        return self.line(x) + more
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x):
        return self.inner(x, x.sum())
net = Outer()
print("nodes", [node.name for node in torch.fx.symbolic_trace(net).graph.nodes])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
optimizer.state[net.inner.line.weight] = {"step": "many"}
for step in range(3):
    loss = net(torch.randn(2, 4)).square().mean()
    loss.backward()
    for _ in range(2):
        norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
    print("step", step + 1, "loss", repr(loss.item()), "grad_norm", repr(norm.item()))
    optimizer.step()
    optimizer.zero_grad()
weights(net)
"""

SCRIPTS = {
    "odd": ODD,
    "plain": PLAIN,
    "accumulation": ACCUMULATION,
    "scaler": SCALER,
    "two_optimizers": TWO_OPTIMIZERS,
    "no_optimizer": NO_OPTIMIZER,
    "closure": CLOSURE,
    "two_backwards": TWO_BACKWARDS,
    "line_search": LINE_SEARCH,
    "resumed": RESUMED,
    "broken_hooks": BROKEN_HOOKS,
    "raising": RAISING,
}

# One rank of a data-parallel training; started by torchrun, or by itself through spawn.
DISTRIBUTED = (
    BEGIN
    + """
import os
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def work(rank, world):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(3)
    net = DistributedDataParallel(nn.Linear(4, 2))
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    lines = []
    for step in range(4):
        loss = net(torch.randn(3, 4)).square().mean()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()
        optimizer.step()
        optimizer.zero_grad()
        lines.append("loss " + repr(loss.item()) + " grad_norm " + repr(norm))
    lines.append("weights " + repr([p.tolist() for p in net.parameters()]))
    with open(os.path.join(sys.argv[1], "rank%d.txt" % rank), "w") as file:
        file.write("\\n".join(lines))
    dist.destroy_process_group()

if __name__ == "__main__":
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    else:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
        mp.spawn(work, (2,), 2)
"""
)

# Imports modules and runs each script file (*.py) in a fork, in the order of the words: "name pid code" is printed.
EACH_IN_A_FORK = """
import atexit, importlib, os, sys
for path in sys.argv[1:]:
    if not path.endswith(".py"):
        importlib.import_module(path)
        continue
    pid = os.fork()
    if pid == 0:
        out = os.open(path + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        try:
            exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
            atexit._run_exitfuncs()
            sys.stdout.flush()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(path, pid, os.waitpid(pid, 0)[1], flush=True)
"""

# The two ranks of a distributed script, in forks of one process: script, its argument, port.
RANKS_IN_FORKS = """
import os, sys, torch, torch.distributed
sys.argv = sys.argv[1:]
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2], WORLD_SIZE="2")
pid = os.fork()
os.environ["RANK"] = str(int(pid == 0))
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), {"__name__": "__main__"})
if pid:
    sys.exit(os.waitpid(pid, 0)[1])
"""
