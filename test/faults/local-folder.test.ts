import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { readyLines } from '../support/headless.ts'

const root = resolve(import.meta.dirname, '../..')
const standIn = join(root, 'test/standin/electron')
const freePorts = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`)

/** A user of Windows, with a roaming and a local folder. */
async function windowsUser() {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-windows-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [roaming, local] = [join(folder, 'Roaming'), join(folder, 'Local')]
  for (const each of [roaming, local]) await mkdir(each)
  const NODE_OPTIONS = `--require=${join(import.meta.dirname, 'as-windows.cjs')}`
  const env = {
    ...process.env,
    NODE_OPTIONS,
    TEMP: tmpdir(),
    APPDATA: roaming,
    LOCALAPPDATA: local,
    STANDIN_KEYCHAIN: 'working',
  }
  const start = (...flags: string[]) => {
    const child = spawn(standIn, [root, '--headless', ...flags, ...freePorts], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  /** Runs the app until it is ready, and ends it. Resolves to its log. */
  const run = async (...flags: string[]): Promise<string> => {
    const child = start(...flags)
    const [log, ended] = [text(child.stderr), once(child, 'exit')]
    const { done } = await readyLines(child.stdout).next()
    child.kill('SIGTERM')
    await ended
    if (done === true) throw new Error(`it was never ready:\n${await log}`)
    return await log
  }
  return { roaming: join(roaming, 'Roomdesk'), local: join(local, 'Roomdesk'), run }
}

test('on Windows the app moves out of the roaming folder once, with its site and the file that opens its key', async () => {
  const { roaming, local, run } = await windowsUser()
  // As an earlier version left it.
  await run(`--user-data-dir=${roaming}`, `--data-dir=${join(roaming, 'site')}`)
  const wrapped = await readFile(join(roaming, 'site/seal.key.wrapped'))
  await writeFile(join(roaming, 'window.json'), '{}')

  const log = await run()
  expect(log).toContain(`moved from ${roaming}`)
  expect(existsSync(roaming)).toBe(false)
  expect(await readFile(join(local, 'site/seal.key.wrapped'))).toEqual(wrapped)
  expect(existsSync(join(local, 'window.json'))).toBe(true)
  // The key opens: the same Local State is beside it.
  expect(await run(`--data-dir=${join(local, 'site')}`)).not.toContain('moved from')
  expect(existsSync(roaming)).toBe(false)
})
