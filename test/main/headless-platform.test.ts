import { expect, test } from 'vitest'
import { lacksHeadlessPlatform, successorProgram } from '../../main/headless-platform.ts'

test('only on Linux, and without a choice of the operator, a start without a window is repeated without a display', () => {
  const argv = ['/opt/Roomdesk/roomdesk', '--headless', '--ozone-platform-hint=auto']
  expect(lacksHeadlessPlatform(argv, 'linux')).toBe(true)
  expect(lacksHeadlessPlatform([...argv, '--ozone-platform=headless'], 'linux')).toBe(false)
  expect(lacksHeadlessPlatform([...argv, '--ozone-platform', 'x11'], 'linux')).toBe(false)
  expect(lacksHeadlessPlatform(argv, 'win32')).toBe(false)
  expect(lacksHeadlessPlatform(argv, 'darwin')).toBe(false)
})

test('a successor is started by the file of its AppImage, as long as there is one', () => {
  const APPIMAGE = import.meta.filename
  const other = { HOME: '/home/ann' }
  expect(successorProgram({ ...other, APPIMAGE })).toEqual({ program: APPIMAGE, environment: other })
  for (const environment of [other, { ...other, APPIMAGE: '/nowhere/Roomdesk.AppImage' }])
    expect(successorProgram(environment)).toEqual({ program: process.execPath, environment })
})
