import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { PreferencesFile } from '../../main/preferences.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const logger = pino({ level: 'silent' })
let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

const noUpdates = { source: '', install: 'ask', hour: null, installing: '' }
const noWalls = { chosen: [], at_login: false, open: false }

test('a preference is stored for the next start', () => {
  const path = join(folder, 'new/window.json')
  new PreferencesFile(path, logger).set({ close: 'hide' })
  const window = { x: 1, y: 2, width: 1000, height: 700, maximized: true }
  new PreferencesFile(path, logger).set({ window })
  expect(new PreferencesFile(path, logger).current).toEqual({
    close: 'hide',
    window,
    keep_awake: true,
    walls: noWalls,
    updates: noUpdates,
  })
})

test('a broken file loses only its broken parts', async () => {
  const path = join(folder, 'window.json')
  await writeFile(path, '{"close":"quit","window":{"x":"left"}}')
  expect(new PreferencesFile(path, logger).current).toEqual({
    close: 'quit',
    window: null,
    keep_awake: true,
    walls: noWalls,
    updates: noUpdates,
  })
  await writeFile(path, '{"close":')
  expect(new PreferencesFile(path, logger).current).toEqual({
    close: 'ask',
    window: null,
    keep_awake: true,
    walls: noWalls,
    updates: noUpdates,
  })
})

test('a read-only folder loses the preferences, and the app still runs', async () => {
  const file = join(folder, 'file')
  await writeFile(file, '')
  const preferences = new PreferencesFile(join(file, 'window.json'), logger)
  preferences.set({ close: 'hide' })
  expect(preferences.current.close).toBe('hide')
  expect(await readFile(file, 'utf8')).toBe('')
})
