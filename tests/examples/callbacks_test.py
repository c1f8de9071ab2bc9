"""The callbacks of examples/trainward_worker.py, driven as the frameworks drive them: callbacks_test.py

The stand-ins call what Trainer and Lightning call, in their order and with their arguments; only the
standard library is needed.
"""
import json
import os
import signal
import socket
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples'))
sys.dont_write_bytecode = True
import trainward_worker
from trainward_worker import HFCallback, LightningCallback, Worker


class Supervised(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(os.path.join(self.folder, 'socket'))
        self.socket.setblocking(False)
        self.told = []
        for name, value in (('TRAINWARD_SOCKET', os.path.join(self.folder, 'socket')),
                            ('TRAINWARD_CHECKPOINT_DIR', self.folder)):
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        for number in (signal.SIGTERM, signal.SIGUSR1):
            self.addCleanup(signal.signal, number, signal.getsignal(number))

    def hear(self):
        """Takes what lies in the queue, which is short."""
        try:
            while True:
                self.told.append(self.socket.recv(16384).decode().strip().replace('\n', ' '))
        except BlockingIOError:
            return self.told

    def only(self, *keys):
        return [line for line in self.hear() if line.split('=')[0] in keys]


class Control:
    def __init__(self):
        self.should_training_stop = self.should_epoch_stop = False
        self.should_save = self.should_evaluate = self.should_log = False


class Trainer:
    """The order of transformers.Trainer: on_step_end, then a log, an evaluation, a save."""

    def __init__(self, test, callback, max_steps, log=2, save=4, evaluate=0, first_rank=True, losses=None,
                 device='cpu'):
        self.test, self.callback, self.max_steps = test, callback, max_steps
        self.every = {'log': log, 'save': save, 'evaluate': evaluate}
        self.losses = losses or (lambda step: {'loss': 5 / step, 'grad_norm': 0.5, 'learning_rate': 1e-5})
        self.args = types.SimpleNamespace(output_dir=os.path.join(test.folder, 'out'), device=device)
        self.state = types.SimpleNamespace(global_step=0, is_world_process_zero=first_rank, max_steps=max_steps)
        self.control, self.saved, self.at = Control(), [], {}
        self.call('on_init_end')

    def call(self, event, **more):
        given = getattr(self.callback, event)(self.args, self.state, self.control, model=None,
                                              processing_class=None, optimizer=None, lr_scheduler=None,
                                              train_dataloader=None, eval_dataloader=None, **more)
        self.control = given if given is not None else self.control
        self.test.hear()

    def train(self, resumed=0):
        self.state.global_step = resumed
        self.call('on_train_begin')
        self.call('on_epoch_begin')
        while self.state.global_step < self.max_steps:
            self.control.should_log = self.control.should_evaluate = self.control.should_save = False
            self.call('on_step_begin')
            self.call('on_substep_end')
            self.call('on_pre_optimizer_step')
            self.call('on_optimizer_step')
            self.state.global_step += 1
            step = self.state.global_step
            if step in self.at:
                self.at[step]()
            for what, every in self.every.items():  # DefaultFlowCallback, which comes first
                setattr(self.control, f'should_{what}', every > 0 and step % every == 0)
            self.call('on_step_end')
            self.log_evaluate_save(step)
            if self.control.should_epoch_stop or self.control.should_training_stop:
                break
        self.call('on_epoch_end')
        self.call('on_train_end')

    def log_evaluate_save(self, step):
        if self.control.should_log:
            self.control.should_log = False
            self.call('on_log', logs={**self.losses(step), 'epoch': 0.1})
        if self.control.should_evaluate:
            self.call('on_prediction_step')
            self.control.should_evaluate = False
            self.call('on_log', logs={'eval_loss': 2.5, 'epoch': 0.1})
            self.call('on_evaluate', metrics={'eval_loss': 2.5})
        if self.control.should_save:
            self.control.should_save = False
            self.saved.append(step)
            self.call('on_save')


def send(number):
    return lambda: os.kill(os.getpid(), number)


class HuggingFace(Supervised):
    def test_steps_losses_phases_and_checkpoints_are_told(self):
        Trainer(self, HFCallback(), 5, evaluate=4).train()
        out = os.path.join(self.folder, 'out')
        self.assertEqual(self.told, [
            'PHASE=load', 'PHASE=compile', 'STEP=1', 'STEP=2 LOSS=2.5 GRAD_NORM=0.5', 'STEP=3',
            'STEP=4 LOSS=1.25 GRAD_NORM=0.5', 'PHASE=evaluate', 'WATCHDOG=1',
            'EVALUATED_STEP=4 EVALUATION_LOSS=2.5', 'PHASE=save',
            f'CHECKPOINT={out}/checkpoint-4 CHECKPOINT_STEP=4', 'PHASE=train', 'STEP=5', 'PHASE=save'])

    def test_a_resumed_run_says_from_where(self):
        Trainer(self, HFCallback(), 6).train(resumed=4)
        self.assertEqual(self.only('RESUMED_STEP', 'STEP'), ['RESUMED_STEP=4', 'STEP=5',
                                                             'STEP=6 LOSS=0.8333333333333334 GRAD_NORM=0.5'])

    def test_sigterm_saves_and_ends_with_75(self):
        trainer = Trainer(self, HFCallback(), 100, save=50)
        trainer.at[7] = send(signal.SIGTERM)
        with self.assertRaises(SystemExit) as end:
            trainer.train()
        self.assertEqual(end.exception.code, 75)
        self.assertEqual(trainer.saved, [7])
        self.assertEqual(self.hear()[-2:], [
            'PHASE=save', f'CHECKPOINT={self.folder}/out/checkpoint-7 CHECKPOINT_STEP=7'])

    def test_sigusr1_saves_and_trains_on(self):
        trainer = Trainer(self, HFCallback(), 10, save=0)
        trainer.at[7] = send(signal.SIGUSR1)
        trainer.train()
        self.assertEqual(trainer.saved, [7])
        self.assertIn('STEP=10 LOSS=0.5 GRAD_NORM=0.5', self.hear())

    def test_a_loss_that_trainer_hides_is_told_as_none(self):
        nan = float('nan')
        Trainer(self, HFCallback(), 2, log=1, losses=lambda step: {'loss': 0.0, 'grad_norm': nan}).train()
        self.assertIn('STEP=1 LOSS=nan GRAD_NORM=nan', self.hear())

    def test_newer_versions_log_texts(self):
        Trainer(self, HFCallback(), 1, log=1, losses=lambda step: {'loss': '2.5', 'num_tokens': '96.0'}).train()
        self.assertIn('STEP=1 LOSS=2.5 TOKENS=96', self.hear())

    def test_every_event_has_a_method(self):
        callback = HFCallback()
        for event in ('on_predict', 'on_push_begin', 'on_an_event_of_a_later_version'):
            getattr(callback, event)(None, None, None, model=None)
        self.assertFalse(hasattr(callback, 'save_state'))

    def test_only_the_first_rank_tells_but_all_save(self):
        trainer = Trainer(self, HFCallback(), 100, first_rank=False)
        trainer.at[3] = send(signal.SIGTERM)
        self.assertRaises(SystemExit, trainer.train)
        self.assertEqual((trainer.saved, self.hear()), ([3], []))

    def test_a_signal_to_another_rank_saves_here_too(self):
        class Tensor(list):
            def tolist(self):
                return list(self)

        def all_reduce(tensor, op):
            self.assertEqual(op, 'max')
            if trainer.state.global_step == 5:
                tensor[0] = 1

        group = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True,
                                      get_world_size=lambda: 2, all_reduce=all_reduce,
                                      ReduceOp=types.SimpleNamespace(MAX='max'))
        sys.modules['torch'] = types.SimpleNamespace(
            distributed=group, tensor=lambda values, device: Tensor(values))
        self.addCleanup(sys.modules.pop, 'torch')
        trainer = Trainer(self, HFCallback(), 100, save=0)
        self.assertRaises(SystemExit, trainer.train)
        self.assertEqual(trainer.saved, [5])

    def test_without_a_supervisor_nothing_happens(self):
        del os.environ['TRAINWARD_SOCKET']
        self.addCleanup(os.environ.__setitem__, 'TRAINWARD_SOCKET', '')
        Trainer(self, HFCallback(), 5).train()
        self.assertEqual(self.hear(), [])


class Fit:
    """The order of Lightning's Trainer.fit; a hook is looked up by its name and called."""

    is_global_zero, world_size, log_every_n_steps, sanity_checking = True, 1, 2, True

    def __init__(self, test, callback, steps, validate=0, keeps_going=False):
        self.test, self.callback, self.steps, self.validate = test, callback, steps, validate
        self.keeps_going, self.should_stop, self.global_step = keeps_going, False, 0
        self.saved, self.at = [], {}
        self.callback_metrics = {'val_loss': '2.5'}
        self.model_checkpoint = types.SimpleNamespace(_last_checkpoint_saved='', _last_global_step_saved=0)
        self.checkpoint_callbacks = [self.model_checkpoint]

    def call(self, hook, *more, **named):
        getattr(self.callback, hook)(self, None, *more, **named)
        self.test.hear()

    def save_checkpoint(self, path):
        self.call('on_save_checkpoint', {})
        self.saved.append(os.path.basename(path))

    def fit(self, resumed=0):
        self.global_step = resumed
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # handlers of its own
        self.call('setup', stage='fit')
        self.call('on_fit_start')
        self.call('on_sanity_check_start')
        self.call('on_validation_start')
        self.call('on_validation_end')
        self.sanity_checking = False
        self.call('on_train_start')
        while self.global_step < self.steps and (self.keeps_going or not self.should_stop):
            self.call('on_train_batch_start', 'batch', 0)
            self.global_step += 1
            if self.global_step in self.at:
                self.at[self.global_step]()
            self.call('on_train_batch_end', {'loss': 5 / self.global_step}, 'batch', 0)
            if self.global_step % 4 == 0:  # ModelCheckpoint, which comes last
                path = os.path.join(self.test.folder, f'epoch=0-step={self.global_step}.ckpt')
                self.save_checkpoint(path)
                self.model_checkpoint._last_checkpoint_saved = path
                self.model_checkpoint._last_global_step_saved = self.global_step
            if self.validate and self.global_step % self.validate == 0:
                self.call('on_validation_start')
                self.call('on_validation_batch_end', None, 'batch', 0, dataloader_idx=0)
                self.call('on_validation_end')
        self.call('on_train_end')
        self.call('on_fit_end')
        self.call('teardown', stage='fit')


class Lightning(Supervised):
    def test_steps_losses_phases_and_checkpoints_are_told(self):
        Fit(self, LightningCallback(), 5, validate=4).fit()
        path = os.path.join(self.folder, 'epoch=0-step=4.ckpt')
        self.assertEqual(self.told, [
            'PHASE=load', 'PHASE=evaluate', 'PHASE=compile', 'STEP=1', 'STEP=2 LOSS=2.5', 'STEP=3',
            'STEP=4 LOSS=1.25', 'PHASE=save', 'PHASE=evaluate', 'WATCHDOG=1',
            'EVALUATED_STEP=4 EVALUATION_LOSS=2.5', f'CHECKPOINT={path} CHECKPOINT_STEP=4', 'PHASE=train',
            'STEP=5', 'PHASE=save'])

    def test_sigterm_saves_and_ends_with_75(self):
        trainer = Fit(self, LightningCallback(), 100)
        trainer.at[7] = send(signal.SIGTERM)
        with self.assertRaises(SystemExit) as end:
            trainer.fit(resumed=4)
        self.assertEqual((end.exception.code, trainer.global_step), (75, 7))
        self.assertEqual(trainer.saved, ['step-00000007.ckpt'])
        self.assertEqual(self.only('RESUMED_STEP', 'CHECKPOINT'), [
            'RESUMED_STEP=4', f'CHECKPOINT={self.folder}/step-00000007.ckpt CHECKPOINT_STEP=7'])

    def test_a_trainer_that_must_not_stop_is_ended_after_the_save(self):
        trainer = Fit(self, LightningCallback(), 100, keeps_going=True)
        trainer.at[3] = send(signal.SIGTERM)
        self.assertRaises(SystemExit, trainer.fit)
        self.assertEqual((trainer.saved[0], trainer.global_step), ('step-00000003.ckpt', 4))

    def test_sigusr1_saves_and_trains_on(self):
        trainer = Fit(self, LightningCallback(), 6)
        trainer.at[3] = send(signal.SIGUSR1)
        trainer.fit()
        self.assertEqual(trainer.saved, ['step-00000003.ckpt', 'epoch=0-step=4.ckpt'])

    def test_it_is_a_callback_of_the_lightning_that_was_imported(self):
        for name in ('lightning.pytorch', 'pytorch_lightning'):
            class Callback:
                def on_fit_start(self, trainer, pl_module):
                    """As Lightning has it: does nothing."""

            sys.modules[name] = types.SimpleNamespace(Callback=Callback)
            try:
                self.assertIsInstance(LightningCallback(), Callback)
            finally:
                del sys.modules[name]
        self.assertNotIsInstance(LightningCallback(), Callback)

    def test_a_step_of_several_batches_is_told_once(self):
        callback = LightningCallback()
        trainer = Fit(self, callback, 1)
        trainer.call('on_train_start')
        trainer.global_step = 1
        for _ in range(3):
            trainer.call('on_train_batch_end', {'loss': 1.0}, 'batch', 0)
        self.assertEqual(self.only('STEP'), ['STEP=1'])


class Plain(Supervised):
    def test_a_worker_in_another_thread_does_not_fail(self):
        import threading
        failed = []

        def make():
            try:
                Worker()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        self.assertEqual(failed, [])

    def test_samples_are_told_as_one_line_texts(self):
        worker = Worker()
        worker.sample(12, 'Say "hi"', 'one\ntwo: \u20ac', tokens=5, end='length')
        worker.sample(13, '', 'half \ud83d')
        self.assertEqual(self.hear(), [
            r'SAMPLE_STEP=12 SAMPLE_PROMPT="Say \"hi\"" SAMPLE_ANSWER="one\ntwo: €" SAMPLE_TOKENS=5 SAMPLE_END=length',
            'SAMPLE_STEP=13 SAMPLE_PROMPT="" SAMPLE_ANSWER="half ?"'])

    def test_a_sample_that_is_too_long_is_cut_and_says_so(self):
        for letter in ('a', '\n', '€', '\x01', '😀'):
            value, cut = trainward_worker.quoted(letter * 5000)
            self.assertTrue(cut)
            self.assertGreater(len(value.encode()), 3800)
            self.assertLessEqual(len(value.encode()), 4096)
            self.assertEqual(set(json.loads(value)), {letter})
        Worker().sample(1, 'p', 'a' * 5000)
        self.assertTrue(self.hear()[0].endswith('" SAMPLE_CUT=1'))

    def test_no_framework_is_imported(self):
        self.assertFalse({'torch', 'transformers', 'lightning'} & set(sys.modules))
        self.assertEqual(trainward_worker.number(None), None)


if __name__ == '__main__':
    unittest.main(warnings='ignore')
