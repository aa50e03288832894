import { expect, test } from 'vitest'
import { sandboxFor } from '../../main/sandbox.ts'

const operator = { platform: 'linux', uid: 1000, argv: ['roomdesk'], isPackaged: true } as const
const noSandbox = ['roomdesk', '--no-sandbox']

test('an operator always has the sandbox, whatever the arguments say', () => {
  expect(sandboxFor(operator)).toBe('on')
  expect(sandboxFor({ ...operator, argv: noSandbox, isPackaged: false })).toBe('on')
  expect(sandboxFor({ ...operator, platform: 'win32', uid: undefined, argv: noSandbox })).toBe('on')
  expect(sandboxFor({ ...operator, platform: 'darwin', uid: 0, argv: noSandbox })).toBe('on')
})

test('an AppImage that is given no sandbox says what to do, and shows no page without one', () => {
  expect(sandboxFor({ ...operator, argv: noSandbox })).toBe('closed')
})

test('the installed app refuses to run as root, where the media node cannot start sandboxed; tests run without a sandbox', () => {
  expect(sandboxFor({ ...operator, uid: 0, argv: noSandbox })).toBe('refuse')
  expect(sandboxFor({ ...operator, uid: 0, argv: noSandbox, isPackaged: false })).toBe('off')
})
