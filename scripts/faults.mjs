// Runs `npm test` on the tests that harm a site, with flags of these tests, which Vitest would refuse as unknown.
//   npm run faults                           everything
//   npm run faults -- sigkill --rounds 1000  the files whose names hold a word; how often a controller is killed (50)
//   npm run faults -- controllers-killed --rounds 100   how often the leader is killed while it records (15); so for cuts of the network (controllers-partitions, 6) and crashes of the database (controllers-database, 4)
//   npm run faults -- recording.test --rounds 20   how often a recorder of 20 cameras is killed, every other time with a power cut (200)
//   npm run faults -- damage --places 1000   at how many places of each file of the data folder there is damage (300)
//   npm run faults -- keychain                the tests of the desktop app in every session of the keychain
//   npm run faults -- --seed 7               where, and what clients of several controllers ask: each run prints its seed
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string' }, places: { type: 'string' }, seed: { type: 'string' } },
  allowPositionals: true,
})
/** Where each test that goes by chance looks for its seed. */
const seeds = ['ROOMDESK_DAMAGE_SEED', 'ROOMDESK_FUZZ_SEED', 'ROOMDESK_HISTORY_SEED']
const env = {
  ...process.env,
  ROOMDESK_FAULTS: 'all',
  ROOMDESK_KILL_ROUNDS: values.rounds ?? '50',
  ROOMDESK_RECORDING_ROUNDS: values.rounds ?? '200',
  ...(values.rounds === undefined ? {} : { ROOMDESK_BUSY_ROUNDS: values.rounds }),
  ...(values.places === undefined ? {} : { ROOMDESK_DAMAGE_PLACES: values.places }),
  ...(values.seed === undefined ? {} : Object.fromEntries(seeds.map((name) => [name, values.seed]))),
}
const child = spawn(
  process.execPath,
  [join(import.meta.dirname, '../test/runner/run.ts'), '--project', 'faults*', ...positionals],
  {
    stdio: 'inherit',
    env,
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
