"""Scripts with a Trainer of Hugging Face or Lightning, which know nothing of the studio. They print what is logged."""

BEGIN = """
import json, warnings

def log(step, values):
    kept = {name: value for name, value in values.items() if "runtime" not in name and "_per_second" not in name}
    print("log", json.dumps([step, kept]))

def names(callbacks):
    return [type(one).__name__ for one in callbacks]
"""

HUGGING_FACE = """
import copy, pickle
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

class Rows(torch.utils.data.Dataset):
    def __init__(self, number):
        self.rows = torch.randint(0, 64, (number, 12), generator=torch.Generator().manual_seed(number))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        labels = self.rows[index].clone()
        labels[: index % 7] = -100
        return {"input_ids": self.rows[index], "labels": labels}

class Told(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **others):
        log(state.global_step, logs)

class Own(Trainer):
    def log(self, logs, *others):
        logs.update({"own/number": 2.5, "text": "12", "step": 4})
        super().log(logs, *others)

def trainer(kind=Own, **values):
    torch.manual_seed(3)
    net = GPT2LMHeadModel(GPT2Config(
        vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0))
    # It keeps no count of its steps that the hooks could read.
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 3))
    args = dict(output_dir="out", per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=8,
                eval_strategy="steps", eval_steps=3, save_steps=4, logging_steps=1, max_grad_norm=0.5, report_to=[],
                use_cpu=True, disable_tqdm=True, seed=3)
    args = TrainingArguments(**dict(args, **values))
    made = kind(net, args, train_dataset=Rows(96), eval_dataset=Rows(10), optimizers=(optimizer, schedule),
                callbacks=[Told])
    made.pop_callback(next(one for one in made.callback_handler.callbacks if type(one).__name__ == "PrinterCallback"))
    return made
"""

TRAINED = """
first = trainer()
first.train()
print("evaluated", first.evaluate()["eval_loss"])
weights(first.model)
callbacks = first.callback_handler.callbacks
ours = [one for one in callbacks if type(one).__name__ == "StudioCallback"]
copies = names(copy.copy(one) for one in ours), names(copy.deepcopy(ours)), names(pickle.loads(pickle.dumps(ours)))
print("callbacks", json.dumps([names(callbacks), *copies]))
second = trainer(Trainer, max_steps=2, eval_strategy="no", save_strategy="no", logging_steps=2)
second.train()
print("predicted", second.predict(Rows(4)).metrics["test_loss"])
weights(second.model)
"""

RESUMED = """
resumed = trainer()
resumed.train(resume_from_checkpoint="out/checkpoint-4")
weights(resumed.model)
"""

LIGHTNING = """
import copy, pickle
import pytorch_lightning as L
from pytorch_lightning.loggers import CSVLogger

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    def loss(self, batch):
        return (self.net(batch[0]) - batch[1]).square().mean()
    def training_step(self, batch, index):
        loss = self.loss(batch)
        self.log("loss", loss, prog_bar=True)
        self.log("own/mae", loss.sqrt(), on_step=True, on_epoch=True)
        self.log("step", 7.0)
        print("loss", json.dumps([self.global_step, loss.item()]))
        return loss
    def on_train_epoch_end(self):
        self.log("at_end", float(self.current_epoch))
    def validation_step(self, batch, index):
        self.log("val_loss", self.loss(batch), on_step=True, on_epoch=True)
        self.log("loss", 0.5)
    def test_step(self, batch, index):
        self.log("test_loss", self.loss(batch))
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]

class Logger(CSVLogger):
    def log_metrics(self, metrics, step=None):
        log(step, metrics)
        super().log_metrics(metrics, step)

class Told(L.Callback):
    def on_validation_end(self, trainer, module):
        print("told", repr({name: value.item() for name, value in trainer.logged_metrics.items()}))

rows = torch.utils.data.TensorDataset(torch.randn(48, 8), torch.randn(48, 1))

def load(shuffle=False):
    return torch.utils.data.DataLoader(rows, 4, shuffle=shuffle)

def trainer(**values):
    saved = L.callbacks.ModelCheckpoint("saved", "{epoch}", save_top_k=-1, every_n_train_steps=4)
    args = dict(max_epochs=2, accumulate_grad_batches=2, val_check_interval=4, gradient_clip_val=0.5,
                log_every_n_steps=2, accelerator="cpu", logger=Logger("csv"), callbacks=[Told(), saved],
                enable_progress_bar=False, enable_model_summary=False)
    return L.Trainer(**dict(args, **values))
"""

LIGHTNING_TRAINED = """
net = Net()
first = trainer()
with warnings.catch_warnings(record=True) as caught:
    first.fit(net, load(True), load())
print("warned", [str(one.message) for one in caught])
print("tested", first.test(net, load(), verbose=False))
weights(net)
callbacks = first.callbacks
ours = [one for one in callbacks if type(one).__name__ == "StudioCallback"]
copies = names(copy.copy(one) for one in ours), names(copy.deepcopy(ours)), names(pickle.loads(pickle.dumps(ours)))
print("callbacks", json.dumps([names(callbacks), *copies]))
second = trainer(max_epochs=1, logger=False, callbacks=[], val_check_interval=None, enable_checkpointing=False)
second.fit(Net(), load())
"""

LIGHTNING_RESUMED = """
net = Net()
trainer().fit(net, load(), load(), ckpt_path="saved/epoch=0.ckpt")
weights(net)
"""

LIGHTNING_RANKS = """
if __name__ == "__main__":
    net = Net()
    once = dict(logger=False, callbacks=[], enable_checkpointing=False, accumulate_grad_batches=1)
    trainer(strategy="ddp", devices=2, max_epochs=1, **once).fit(net, load(), load())
"""

SCRIPTS = {
    "hugging_face": HUGGING_FACE + TRAINED,
    "hugging_face_resumed": HUGGING_FACE + RESUMED,
    "lightning": LIGHTNING + LIGHTNING_TRAINED,
    "lightning_resumed": LIGHTNING + LIGHTNING_RESUMED,
}
