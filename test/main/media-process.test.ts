import { utilityProcess } from 'electron'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { spawnMediaProcess } from '../../main/media-process.ts'
import { youngMegabytes } from '../../server/nodes/embedded/fork-process.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const root = resolve(import.meta.dirname, '../..')
const idle = 'setInterval(() => {}, 1_000)\n'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

/** Writes a program that replaces the media node. */
async function program(source: string): Promise<string> {
  const path = join(folder, 'program.mjs')
  await writeFile(path, source)
  return path
}

test('the node has the room for young objects that it has without the app', async () => {
  const file = JSON.stringify(join(folder, 'space'))
  const source = `
    import { writeFileSync } from 'node:fs'
    import { getHeapSpaceStatistics } from 'node:v8'
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    writeFileSync(${file}, String(space.space_size))
    process.exit()`
  const node = spawnMediaProcess(await program(source))()
  await new Promise((resolve) => node.onExit(resolve))
  // V8 begins with one megabyte.
  expect(Number(await readFile(join(folder, 'space'), 'utf8'))).toBeGreaterThanOrEqual(youngMegabytes * 2 ** 20)
})

test('a node abandoned before it has started does not keep running', async () => {
  const node = spawnMediaProcess(await program(idle))()
  const ended = new Promise<string>((resolve) => node.onExit(resolve))
  expect(node.pid).toBeUndefined()
  node.kill()
  expect(await ended).toMatch(/^it ended with exit code/)
})

test('the app survives a crash of V8 in the media process and says why it ended', async () => {
  const fork = vi.spyOn(utilityProcess, 'fork')
  const node = spawnMediaProcess(await program(idle))()
  const ended = new Promise<string>((resolve) => node.onExit(resolve))
  const child = fork.mock.results[0]?.value as { _failFatally: () => void }
  expect(() => child._failFatally()).not.toThrow()
  node.kill()
  expect(await ended).toContain('OutOfMemory')
})

test.skipIf(process.platform === 'win32')('an unhandled rejection ends the node, so that it is restarted', async () => {
  // Electron only warns by default.
  vi.stubEnv('NODE_OPTIONS', `--require=${join(root, 'test/support/fail-on-signal.cjs')}`)
  vi.stubEnv('FAILING_PROGRAM', 'media-node.ts')
  const node = spawnMediaProcess(join(root, 'server/bin/media-node.ts'))()
  const ended = new Promise<string>((resolve) => node.onExit(resolve))
  const said: unknown[] = []
  const greeted = new Promise<void>((resolve) => {
    node.onMessage((message) => {
      said.push(message)
      resolve()
    })
  })
  await Promise.race([greeted, ended])
  process.kill(node.pid ?? 0, 'SIGWINCH')
  expect(await ended).toBe('it ended with exit code 70')
  expect(JSON.stringify(said)).toContain('a rejection that nobody foresaw')
})
