import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLaunchOptions } from '../../../server/bin/launch-options.ts'
import { onSystem } from '../../support/on-system.ts'

test.each([
  ['linux', {}, join(homedir(), '.local/share/roomdesk')],
  ['linux', { XDG_DATA_HOME: '/data' }, '/data/roomdesk'],
  ['darwin', {}, join(homedir(), 'Library/Application Support/Roomdesk')],
  ['win32', {}, join(homedir(), 'AppData/Local/Roomdesk')],
  ['win32', { LOCALAPPDATA: '/local' }, '/local/Roomdesk'],
] as const)('On %s with %j a site is kept in %s', (system, environment, folder) => {
  onSystem(system)
  expect(readLaunchOptions([], environment).dataDir).toBe(folder)
})
