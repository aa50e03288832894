import { app } from 'electron'
import { afterEach, expect, test, vi } from 'vitest'
import { appId } from '../../main/app-id.ts'
import { startWithoutWindow } from '../../main/headless-face.ts'
import { nameForTaskbar } from '../../main/taskbar-id.ts'
import { onSystem } from '../support/on-system.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test.each([
  ['linux', ['ozone-platform=headless']],
  ['win32', []],
  ['darwin', []],
] as const)('without a window, %s needs no display', (system, switches) => {
  onSystem(system)
  const given: string[] = []
  vi.spyOn(app, 'whenReady').mockReturnValue(new Promise(() => undefined))
  vi.spyOn(app.commandLine, 'appendSwitch').mockImplementation((name, value) => void given.push(`${name}=${value}`))
  startWithoutWindow()
  expect(given).toEqual(switches)
})

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
