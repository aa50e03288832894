import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { needsBuild, sourcesOf, withTest } from './needs.ts'

const root = join(import.meta.dirname, '../..')
const sources = (file: string) => sourcesOf(join(root, file))
const npmTest = (...parameters: string[]) =>
  promisify(execFile)(process.execPath, [join(root, 'test/runner/run.ts'), ...parameters], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', ROOMDESK_CHROMIUM: '/nowhere/chromium' },
  })

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

test('a name selects the files with it in their text, also in a module that they import, and no others', () => {
  const files = globSync('test/{server,shared,e2e}/**/*.test.ts', { cwd: root })
  const selected = (pattern: string) =>
    withTest(
      files.map((file) => ({ file, sources: sources(file) })),
      pattern,
    ).map(({ file }) => file)
  expect(selected('admits only users with a token for that room')).toEqual(['test/server/nodes/janus/people.test.ts'])
  expect(selected('a camera whose sound is AAC is heard in Opus')).toContain(
    'test/server/media/transcode/sound.test.ts',
  )
  expect(selected('goes? offline twice|SIGHUP')).toContain('test/server/bin/signals.test.ts')
  expect(selected('no story of a xylophone')).toEqual([])
})

test('a run by name runs one file, with no build, and its last line is the result', async () => {
  const { stdout, stderr } = await npmTest('--project', 'node', '-t', 'only files that start the built program need')
  expect(stdout).toMatch(/Test Files.* 1 passed .*\(1\)/)
  expect(stdout.trim().split('\n').at(-1)).toBe('1 passed, 0 failed')
  expect(stderr).not.toContain('Building')
})

test('a file that needs a missing program is skipped, and the package to install is named', async () => {
  const { stdout } = await npmTest('test/e2e/access-links.test.ts')
  expect(stdout).toContain('Skipped 1 file: Chromium is missing (Debian: apt-get install chromium ')
  expect(stdout.trim().split('\n').at(-1)).toBe('0 passed, 0 failed')
})
