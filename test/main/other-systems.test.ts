import { app } from 'electron'
import { expect, test, vi } from 'vitest'
import { appId } from '../../main/app-id.ts'
import { nameForTaskbar } from '../../main/desktop.ts'
import { onSystem } from '../support/on-system.ts'

test.each([
  ['win32', [appId]],
  ['linux', []],
  ['darwin', []],
] as const)('on %s the taskbar knows the app', (system, ids) => {
  onSystem(system)
  const named = vi.spyOn(app, 'setAppUserModelId').mockImplementation(() => undefined)
  nameForTaskbar()
  expect(named.mock.calls.flat()).toEqual(ids)
})
