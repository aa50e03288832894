import { sep } from 'node:path'
import { expect, test } from 'vitest'
import type { Protocol } from 'electron'
import type { Role } from '../../shared/domain/roles.ts'
import { fileOf, serveApp } from '../../main/app-scheme.ts'

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

test("a wall's page requests recordings as a viewer, and the operator's page as an admin", async () => {
  type Handler = Parameters<Protocol['handle']>[1]
  const handlers = new Map<Role, Handler>()
  const sessionOf = (role: Role) => ({
    role,
    session: {
      protocol: { handle: (_: string, handler: Handler) => handlers.set(role, handler) } as unknown as Protocol,
    },
  })
  serveApp(folder, [sessionOf('admin'), sessionOf('viewer')], async (request, role) =>
    Response.json([new URL(request.url).pathname, role]),
  )
  for (const role of ['admin', 'viewer'] as const) {
    const answer = await handlers.get(role)?.(new Request('app://roomdesk/recordings/segments/1'))
    expect(await answer?.json()).toEqual(['/recordings/segments/1', role])
  }
})
