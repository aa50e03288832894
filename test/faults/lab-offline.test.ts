import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** Stories of the lab through the command line, the console and its pages. */
const stories = [
  ...['test/server/lab', 'test/docs/lab.test.ts', 'test/renderer/lab', 'test/e2e/scenarios.test.ts'],
  ...['test/server/console/scenarios.test.ts', 'test/server/console/incident.test.ts'],
  ...['test/server/console/lab-cameras.test.ts', 'test/server/console/lab-people.test.ts'],
  ...['test/server/bin/camera-command.test.ts', 'test/server/bin/people-command.test.ts'],
] as const

/** Whether a process can be started without a network here: on Linux, as root. */
function canLeaveNetwork(): boolean {
  try {
    execFileSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.skipIf(!canLeaveNetwork())(
  'Every story of the lab holds on a machine without a network',
  {
    timeout: 900_000,
  },
  async () => {
    const run = `ip link set lo up && ip -o link && exec npx vitest run --retry 1 ${stories.join(' ')}`
    const env = { ...process.env, VITEST: undefined, VITEST_POOL_ID: undefined, VITEST_WORKER_ID: undefined }
    const { stdout } = await promisify(execFile)('unshare', ['-n', 'sh', '-c', run], {
      cwd: root,
      env,
      maxBuffer: 2 ** 26,
    })
    expect(stdout.split('\n').filter((line) => /^\d+: /.test(line))).toHaveLength(1)
    // A failed story gives another exit code than 0, which rejects.
    expect(stdout).toMatch(/Test Files.* passed/)
  },
)
