import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { releaseNotes } from '../../scripts/release-notes.mjs'

const changelog = `# Changelog

## [Unreleased]

### Added

- Walls.

## [0.2.0] - 2026-09-01

- Rooms.
`

test('an update shows the section of its version, or what is not released yet', () => {
  expect(releaseNotes(changelog, '0.2.0')).toBe('- Rooms.')
  expect(releaseNotes(changelog, '0.3.0')).toBe('### Added\n\n- Walls.')
  expect(releaseNotes('# Changelog\n', '0.3.0')).toBe('')
})

test('the changelog of this project has one for its version', async () => {
  const root = resolve(import.meta.dirname, '../..')
  const own = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(releaseNotes(own, version).length).toBeGreaterThan(100)
})
