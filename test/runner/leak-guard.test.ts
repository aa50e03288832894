import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test('a test file that leaves a server open and changes its process fails', async () => {
  const config = join(import.meta.dirname, 'leaking/vitest.config.ts')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const run = promisify(execFile)(process.execPath, [vitest, 'run', '--config', config], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
  })
  const { stdout, stderr } = await run.then(
    () => expect.fail('it passed'),
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  expect(stdout).toContain('1 passed')
  const left = [...stderr.matchAll(/^\+ +"(.*)",$/gm)].map(([, name]) => name)
  expect(left).toEqual(['servers', 'listeners of warning', 'variable ROOMDESK_LEFT'])
})
