"""Keras 3, model.fit with BackupAndRestore: four epochs of 100 batches, into a pipe.
Fault: a record of the data set is damaged."""
from stand_in import *


class DataLossError(Exception):
    pass


DataLossError.__module__ = "tensorflow.python.framework.errors_impl"

metadata = "backup/training_metadata.json"
initial_epoch = json.load(open(metadata))["epoch"] if os.path.exists(metadata) else 0
os.makedirs("backup", exist_ok=True)
step = initial_epoch * 100
for epoch in range(initial_epoch, 4):
    sys.stdout.write(f"Epoch {epoch + 1}/4\n")
    sys.stdout.flush()
    shown = 0.0
    for batch in range(1, 101):
        step += 1
        if step == 333 and first():
            raise DataLossError("Graph execution error:\n\ncorrupted record at 18351\n"
                                "\t [[{{node IteratorGetNext}}]] [Op:__inference_multi_step_on_iterator_2041]")
        work()
        if time.time() - shown < 0.05 and batch < 100:
            continue
        shown, width = time.time(), batch // 5
        bar = (f"\033[32m{'━' * width}\033[0m" if width else "") + f"\033[37m{'━' * (20 - width)}\033[0m"
        sys.stdout.write(f"\n\033[1m{batch:3}/100\033[0m {bar} \033[1m0s\033[0m 5ms/step - accuracy: 0.4312 - "
                         f"loss: {loss_of(step):.4f}")
        if batch == 100:
            sys.stdout.write(f" - val_accuracy: 0.4101 - val_loss: {loss_of(step) + 0.1:.4f}\n")
        sys.stdout.flush()
    with open("backup/latest.weights.h5", "wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n" + bytes(64))
    with open(metadata, "w") as file:
        json.dump({"epoch": epoch + 1, "batch": 0}, file)
