import { sep } from 'node:path'
import { expect, test } from 'vitest'
import { fileOf } from '../../main/app-scheme.ts'

const folder = '/opt/app/page'
const inside = (...names: string[]): string => [folder, ...names].join(sep)

test('the page and its assets are found', () => {
  expect(fileOf(folder, 'app://roomdesk/')).toBe(inside('index.html'))
  expect(fileOf(folder, 'app://roomdesk/index.html?x=1#/rooms')).toBe(inside('index.html'))
  expect(fileOf(folder, 'app://roomdesk/assets/a%20b.js')).toBe(inside('assets', 'a b.js'))
})

test.each([
  ['a parent folder', 'app://roomdesk/..%2f..%2fetc/passwd'],
  ['a parent folder, fully encoded', 'app://roomdesk/%2e%2e%2f%2e%2e%2fmain.js'],
  ['a parent folder with backslashes', 'app://roomdesk/..%5c..%5cmain.js'],
  ['a sibling with the same prefix', 'app://roomdesk/..%2fpage-two/index.html'],
  ['the folder itself', 'app://roomdesk/.%2f'],
  ['a NUL', 'app://roomdesk/index.html%00.png'],
  ['a broken escape', 'app://roomdesk/%zz'],
  ['another host', 'app://other/index.html'],
  ['another scheme', 'file:///opt/app/page/index.html'],
  ['no URL', 'index.html'],
])('nothing is served for %s', (_what, url) => {
  const file = fileOf(folder, url)
  // A backslash is valid in a file name on Linux: such a file simply does not exist.
  if (file !== undefined) expect(file.startsWith(inside(''))).toBe(true)
  if (!url.includes('%5c')) expect(file).toBeUndefined()
})
