import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readOptions } from './options.ts'

const script = resolve(import.meta.dirname, '../../scripts/smoke.mjs')

/** Runs the command without Electron's binary; resolves to its output and exit code. */
async function smoke(...args: string[]): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const empty = await mkdtemp(join(tmpdir(), 'roomdesk-no-electron-'))
  const { promise, resolve: finish } = Promise.withResolvers<{ stdout: string; stderr: string; code: number | null }>()
  const env = { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: empty }
  const child = execFile(process.execPath, [script, ...args], { env }, (_error, stdout, stderr) =>
    finish({ stdout, stderr, code: child.exitCode }),
  )
  const ended = await promise
  await rm(empty, { recursive: true })
  return ended
}

test("without Electron's binary it says at once what is missing and how to install it, and does nothing else", async () => {
  const { stdout, stderr, code } = await smoke()
  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^Electron's binary is not here\. Get it with: npx --no-install install-electron/),
  ])
})

test('it prints its usage, even without Electron', async () => {
  const { stdout, code } = await smoke('--help')
  expect(code).toBe(0)
  for (const word of ['--only', '--skip-questions', '--report', 'start', 'unpacked', 'installers'])
    expect(stdout).toContain(word)
})

test('an invalid command line is answered with the valid options', () => {
  expect(() => readOptions(['--only', 'app,boat'])).toThrow(
    '--only boat: there is no such part; there are start, unpacked,',
  )
  expect(() => readOptions(['--fast'])).toThrow('--fast')
  expect(readOptions(['--only', 'packed, app.call', '--only=questions', '--report', 'a.json'])).toMatchObject({
    only: ['packed', 'app.call', 'questions'],
    report: 'a.json',
    skipQuestions: false,
  })
})
