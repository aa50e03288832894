import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { mayContain, needsBuild, sourcesOf } from './needs.ts'

const root = join(import.meta.dirname, '../..')
const sources = (file: string) => sourcesOf(join(root, file))

test('only files that start the built program need a build', () => {
  expect(needsBuild(sources('test/server/bin/signals.test.ts'))).toBe(true)
  expect(needsBuild(sources('test/e2e/stories.test.ts'))).toBe(true)
  expect(needsBuild(sources('test/server/rooms/bulk.test.ts'))).toBe(false)
})

test('only built.ts names files of the build', () => {
  const named = globSync('test/**/*.ts', { cwd: root }).filter((file) =>
    /join\([^)]*'(?:\.\.\/)*dist\/(?:server|main|renderer|player|room-page)/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  )
  expect(named).toEqual([])
})

test('a test is found by its name, also in a module that its file imports', () => {
  expect(mayContain(sources('test/server/bin/signals.test.ts'), 'SIGHUP')).toBe(true)
  expect(mayContain(sources('test/shared/abort.test.ts'), 'no test has this name')).toBe(false)
})

test('a file that needs a missing program is skipped, and the package to install is named', async () => {
  const env = { ...process.env, ROOMDESK_CHROMIUM: '/nowhere/chromium' }
  const command = [join(root, 'test/runner/run.ts'), 'test/e2e/dev-server.test.ts']
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root, env })
  expect(stdout).toContain('Skipped 1 files: Chromium is missing (Debian: apt-get install chromium ')
  expect(stdout.trim().split('\n').at(-1)).toBe('0 passed, 0 failed')
})
