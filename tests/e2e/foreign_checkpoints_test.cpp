// Checkpoints as people have them: folders, one file that is written over and over, files without a
// number. Scripts in the manner of their frameworks, without any of these.

#include "world.hpp"

namespace trainward::e2e {
namespace {

// What torch.save writes, of values that need no tensor.
constexpr const char* torch_save = R"(
import io, json, os, pickle, signal, sys, time, zipfile
def torch_save(value, path):
    with zipfile.ZipFile(path + '.tmp', 'w') as z:
        z.writestr('archive/data.pkl', pickle.dumps(value, protocol=2))
        z.writestr('archive/version', '3\n')
    os.rename(path + '.tmp', path)
def once(name):
    if os.path.exists(name): return False
    open(name, 'w').close()
    return True
)";

// One file under one name; `--init_from=resume` finds it.
constexpr const char* nanogpt = R"(
open('args', 'a').write(' '.join(sys.argv[1:]) + '\n')
iter_num = 0
if '--init_from=resume' in sys.argv:
    with zipfile.ZipFile('out/ckpt.pt') as z: iter_num = pickle.loads(z.read('archive/data.pkl'))['iter_num']
os.makedirs('out', exist_ok=True)
for iter_num in range(iter_num, 41):
    if iter_num % 10 == 0 and iter_num > 0:
        print(f'step {iter_num}: train loss 4.1, val loss 4.2', flush=True)
        torch_save({'model': {}, 'model_args': {'n_layer': 2}, 'iter_num': iter_num}, 'out/ckpt.pt')
    print(f'iter {iter_num}: loss {5.0 / (iter_num + 1):.4f}, time 20.00ms, mfu 1.00%', flush=True)
    if iter_num == 26 and once('crashed'): os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
)";

// Folders; the second one is cut off in its middle. The newest is found with
// resume_from_checkpoint.
constexpr const char* trainer = R"(
start = 0
if len(sys.argv) > 1:
    start = json.load(open(sys.argv[1].split('=')[1] + '/trainer_state.json'))['global_step']
for step in range(start + 1, 31):
    print(f"step {step} loss {5.0 / step:.4f}", flush=True)
    if step % 10 == 0:
        folder = f'out/checkpoint-{step}'
        os.makedirs(folder, exist_ok=True)
        open(folder + '/training_args.bin', 'wb').write(b'x' * 100)
        torch_save({'lr': step}, folder + '/optimizer.pt')
        if step == 20 and once('crashed'): os.kill(os.getpid(), signal.SIGKILL)
        json.dump({'global_step': step}, open(folder + '/trainer_state.json', 'w'))
    time.sleep(0.02)
)";

// Nothing but the time of the file tells its step.
constexpr const char* numberless = R"(
start = int(open(sys.argv[1]).read()) if len(sys.argv) > 1 else 0
for step in range(start + 1, 31):
    print(f"step {step} loss {5.0 / step:.4f}", flush=True)
    time.sleep(0.05)
    if step == 10:
        open('last.txt.tmp', 'w').write('10'); os.rename('last.txt.tmp', 'last.txt')
    if step == 20 and once('crashed'): os.kill(os.getpid(), signal.SIGKILL)
)";

class ForeignCheckpoints : public World {
 protected:
  void SetUp() override {
    if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
      GTEST_SKIP() << "python3 is not here";
    }
  }
  void write_script(const std::string& body, const std::string& argument,
                    const std::string& pattern, const std::string& more = "") {
    write("train.py", torch_save + body);
    write("run.yaml", "programs:\n  run:\n    command: [python3, train.py, " + argument +
                          "]\n    watch: {auto: true, checkpoints: ['" + pattern +
                          "']}\n    backoff: {first: 20ms}\n" + more);
  }
};

TEST_F(ForeignCheckpoints, OneFileThatIsWrittenOverAndOver) {
  write_script(nanogpt, "'{checkpoint:+--init_from=resume}'", "out/ckpt.pt");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts().front().kept_step, 20) << "by its iter_num";
  EXPECT_EQ(attempts().back().resume_step, 20);
  EXPECT_GE(attempts().back().first_step, 20) << "which it tells once more";
  EXPECT_LE(attempts().back().first_step, 21);
  EXPECT_EQ(attempts().back().last_step, 40);
  EXPECT_EQ(attempts().back().kept_step, 40);
  EXPECT_EQ(read_file(path("args"), 1000).value_or(""), "\n--init_from=resume\n");
}

TEST_F(ForeignCheckpoints, AFolderThatWasCutOffIsPassedOver) {
  write_script(trainer, "['--resume_from_checkpoint={checkpoint}']", "out/checkpoint-*/");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts().front().kept_step, 10);
  EXPECT_EQ(attempts().back().resume_step, 10);
  EXPECT_EQ(attempts().back().first_step, 11);
  EXPECT_EQ(attempts().back().kept_step, 30);
  EXPECT_THAT(run("trainwardctl", {"events", "-n", "100"}).out,
              testing::HasSubstr("lacks 'trainer_state.json', which is written last"));
}

TEST_F(ForeignCheckpoints, WithoutANumberTheTimeOfTheFileTellsTheStep) {
  write_script(numberless, "['{checkpoint}']", "last.txt");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  // It is told of a step when it has printed it, and writes the file some time after.
  EXPECT_GE(attempts().back().resume_step, 9);
  EXPECT_LE(attempts().back().resume_step, 10);
  EXPECT_EQ(attempts().back().first_step, 11);
  EXPECT_EQ(attempts().back().last_step, 30);
}

TEST_F(ForeignCheckpoints, OldOnesGoWhenThatIsAskedFor) {
  write_script(trainer, "['--resume_from_checkpoint={checkpoint}']", "out/checkpoint-*",
               "    checkpoints: {keep: 2, foreign: true}\n");
  write("crashed", "");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << daemon_log();
  EXPECT_EQ(attempts().back().kept_step, 30);
  const std::filesystem::path out = path("out");
  EXPECT_FALSE(std::filesystem::exists(out / "checkpoint-10"));
  EXPECT_TRUE(std::filesystem::exists(out / "checkpoint-20"));
  EXPECT_TRUE(std::filesystem::exists(out / "checkpoint-30"));
}

}  // namespace
}  // namespace trainward::e2e
