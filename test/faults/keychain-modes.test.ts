import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { isGenuine } from '../e2e/desktop.ts'

const root = resolve(import.meta.dirname, '../..')

/** End-to-end tests that start the desktop app; the others run headless, without a keychain. */
const ofTheApp = globSync('test/{e2e,journeys}/*.test.ts', { cwd: root }).filter((file) =>
  /\/desktop\.ts'|openConsole\('desktop'\)/.test(readFileSync(join(root, file), 'utf8')),
)

/** Runs the tests in a session. Resolves to Vitest's exit code and output. */
async function run(session: string): Promise<{ code: number; said: string }> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--project', 'desktop', '--project', 'faults-journeys', ...ofTheApp],
    {
      cwd: root,
      env: { ...process.env, STANDIN_KEYCHAIN: session, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? 1, said }
}

test.skipIf(isGenuine).each(['none', 'v10', 'locked', 'working'])(
  'the end-to-end tests of the desktop app pass in a session whose keychain is: %s',
  async (session) => {
    const { code, said } = await run(session)
    expect(code, said.slice(-20_000)).toBe(0)
    expect(said).toMatch(new RegExp(`Test Files\\s+${ofTheApp.length} passed`))
  },
  900_000,
)
