import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Linter, type Rule } from 'eslint'
import ts from 'typescript-eslint'
import { afterAll, describe, expect, test } from 'vitest'

const rulesFolder = join(import.meta.dirname, '../../eslint-rules')

/** Loads every rule of the project by its exported name. */
async function loadRules(): Promise<Record<string, Rule.RuleModule>> {
  const names = [
    'edge-only',
    'layers',
    'linear-patterns',
    'own-paths',
    'one-wait',
    'parent-port',
    'public-api',
    'reasoned-exception',
    'reasoned-silence',
  ]
  const modules = await Promise.all(names.map((name) => import(join(rulesFolder, `${name}.js`)) as Promise<object>))
  return Object.assign({}, ...modules) as Record<string, Rule.RuleModule>
}

const rules = await loadRules()
const roots: string[] = []

afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true })
})

/** Writes a project with these files. @returns a function that lists the messages of one rule about one file */
function project(files: Record<string, string>): (rule: string, file: string) => string[] {
  const root = mkdtempSync(join(tmpdir(), 'roomdesk-rules-'))
  roots.push(root)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const linter = new Linter({ cwd: root })
  return (rule, file) => {
    const config: Linter.Config = {
      files: ['**/*.ts'],
      languageOptions: { parser: ts.parser },
      linterOptions: { reportUnusedDisableDirectives: 'off' },
      plugins: { roomdesk: { rules } },
      rules: { [`roomdesk/${rule}`]: 'error' },
    }
    const found = linter.verify(files[file] ?? '', config, { filename: join(root, file) })
    return found.map(({ message }) => message)
  }
}

describe("a parent folder's port", () => {
  const lint = project({
    'server/store/state.ts': "import type { A } from './records.ts'",
    'server/store/records.ts': '',
    'server/store/sealer.ts': "import type { B } from './key.ts'",
    'server/store/key.ts': "import { c } from './files/disk.ts'",
    'server/store/files/disk.ts': '',
    'server/store/files/good.ts': "import type { A } from '../state.ts'",
    'server/store/files/bad.ts': "import type { B } from '../sealer.ts'",
    'server/store/files/deep/good.ts': "import { c } from '../disk.ts'",
    'server/store/open.ts': "import { c } from './files/disk.ts'",
  })

  test('a subfolder imports files of its parent that import no subfolder', () => {
    expect(lint('parentPort', 'server/store/files/good.ts')).toEqual([])
    expect(lint('parentPort', 'server/store/files/deep/good.ts')).toEqual([])
  })

  test('a file that reaches a subfolder through one beside it is no port', () => {
    expect(lint('parentPort', 'server/store/files/bad.ts')).toEqual([
      'server/store/sealer.ts is no port: it imports server/store/files/disk.ts. A subfolder imports only files of its parent that import no subfolder.',
    ])
  })

  test('a parent imports its subfolders freely', () => {
    expect(lint('parentPort', 'server/store/open.ts')).toEqual([])
  })
})

describe('arrows between the folders', () => {
  const lint = project({
    'server/loose.ts': '',
    'server/nodes/loose.ts': '',
    'server/nodes/janus/janus-node.ts': '',
    'server/nodes/janus/loose.ts': '',
    'server/rooms/up.ts': "import { a } from '../console/handlers.ts'",
    'server/rooms/down.ts': "import { a } from '../nodes/port/deadline.ts'",
    'shared/out.ts': "import { a } from '../server/rooms/down.ts'",
    'shared/files/disk.ts': "import { open } from 'node:fs/promises'",
    'shared/console/reads.ts': "import { open } from 'node:fs/promises'\nimport { a } from '../files/disk.ts'",
    'server/rooms/view.ts': "import type { A } from '../../shared/console/rooms.ts'",
    'shared/domain/room.ts': "import type { A } from '../console/rooms.ts'",
    'renderer/console/page.ts': "import { a } from '../../shared/files/disk.ts'",
    'server/unknown/file.ts': "import { a } from '../store/store.ts'",
    'clients/typescript/src/client.ts': "import { z } from 'zod'\nimport { a } from '../../../shared/operation.ts'",
    'clients/typescript/src/query.ts': "import { b } from './client.ts'\nimport { hash } from 'node:crypto'",
    'server/lab/signs.ts': "import { sign } from '../../clients/typescript/src/client.ts'",
    'server/http/signs.ts': "import { sign } from '../../clients/typescript/src/client.ts'",
  })

  test('an import of a folder that is not below is refused, one of a folder below is allowed', () => {
    expect(lint('layers', 'server/rooms/up.ts')).toEqual([
      'server/rooms/ may not import from server/console/, which is not below it.',
    ])
    expect(lint('layers', 'server/rooms/down.ts')).toEqual([])
    expect(lint('layers', 'shared/out.ts')).toEqual(['shared/ may not import from server/.'])
  })

  test('only shared/files/ uses the disk, and no page imports it', () => {
    expect(lint('layers', 'shared/files/disk.ts')).toEqual([])
    expect(lint('layers', 'shared/console/reads.ts')).toEqual([
      'shared/ may not import node:fs/promises.',
      'Only shared/files/ uses the disk: pages read the rest of shared/.',
    ])
    expect(lint('layers', 'renderer/console/page.ts')).toEqual(['Pages have no disk: shared/files/ is for programs.'])
  })

  test('the domain and what it shares with the console import no declaration of the console', () => {
    expect(lint('layers', 'server/rooms/view.ts')).toEqual([
      'server/rooms/ is below the console: import shared/domain/, or move the declaration there.',
    ])
    expect(lint('layers', 'shared/domain/room.ts')).toEqual(['shared/domain/ is below shared/console/.'])
  })

  test('the client kit imports nothing but itself, and only the lab uses it', () => {
    expect(lint('layers', 'clients/typescript/src/client.ts')).toEqual([
      'clients/ may not import zod.',
      'clients/ may not import from shared/.',
    ])
    expect(lint('layers', 'clients/typescript/src/query.ts')).toEqual(['clients/ may not import node:crypto.'])
    expect(lint('layers', 'server/lab/signs.ts')).toEqual([])
    expect(lint('layers', 'server/http/signs.ts')).toEqual([
      'Only server/lab/ is a client of the APIs and may import clients/.',
    ])
  })

  test('a folder without a place in the layers is refused', () => {
    expect(lint('layers', 'server/unknown/file.ts')).toEqual([
      'server/unknown/ has no place in the layers; give it one in eslint-rules/layers.js.',
    ])
  })

  test('a file outside of the folders is refused where a folder holds only folders', () => {
    expect(lint('layers', 'server/loose.ts')).toEqual(['server/ holds folders only: put this file into one.'])
    expect(lint('layers', 'server/nodes/loose.ts')).toEqual([
      'server/nodes/ holds folders only: put this file into one.',
    ])
    expect(lint('layers', 'server/nodes/janus/loose.ts')).toEqual([
      'server/nodes/janus/ holds janus-node.ts, janus-nodes.ts and folders only: put this file into one.',
    ])
    expect(lint('layers', 'server/nodes/janus/janus-node.ts')).toEqual([])
  })
})

describe('exceptions', () => {
  test('an exception gives its reason', () => {
    const lint = project({
      'server/a/bare.ts': '// eslint-disable-next-line eqeqeq\nx == 1',
      'server/a/reasoned.ts': '// eslint-disable-next-line eqeqeq -- null and undefined alike\nx == null',
    })
    expect(lint('reasonedException', 'server/a/bare.ts')).toEqual([
      'Write the reason behind the rule: "eslint-disable-next-line RULE -- reason".',
    ])
    expect(lint('reasonedException', 'server/a/reasoned.ts')).toEqual([])
  })
})

describe('servers', () => {
  test('only server/edge/ creates servers', () => {
    const code = "import { createServer } from 'node:http'\ncreateServer()"
    const lint = project({ 'server/edge/server.ts': code, 'server/http/listener.ts': code })
    expect(lint('edgeOnly', 'server/edge/server.ts')).toEqual([])
    expect(lint('edgeOnly', 'server/http/listener.ts')).toEqual([
      'Only server/edge/ makes servers: use its EdgeServer.',
    ])
  })
})

describe('one way to wait', () => {
  const wait = (text: string, file = 'server/rooms/rooms.ts'): string[] => project({ [file]: text })('oneWait', file)

  test("a listener for abort, a promise of a timer and Node's own wait are refused", () => {
    expect(wait("signal.addEventListener('abort', stop, { once: true })")).toEqual([expect.stringContaining('onAbort')])
    expect(wait('await new Promise((resolve) => setTimeout(resolve, 5).unref())')).toHaveLength(1)
    expect(wait("import { setImmediate, setTimeout as sleep } from 'node:timers/promises'")).toHaveLength(1)
  })

  test('other listeners, timers that do more and a turn of the event loop are allowed', () => {
    expect(wait("signal.addEventListener('close', stop)")).toEqual([])
    expect(wait('new Promise((resolve) => { const timer = setTimeout(resolve, 5) })')).toEqual([])
    expect(wait("import { setImmediate } from 'node:timers/promises'")).toEqual([])
    expect(wait("signal.addEventListener('abort', run)", 'shared/abort.ts')).toEqual([])
  })
})

describe('patterns', () => {
  const found = (text: string): string[] => project({ 'server/a/a.ts': text })('linearPatterns', 'server/a/a.ts')

  test.each([
    ['/<Contents>(.*?)<\\/Contents>/gs', 'lazy'],
    ['/[^]*?x/', 'lazy'],
    ['/a{2,}?b/', 'lazy'],
    ['new RegExp(`<${name}>(.+?)</${name}>`)', 'lazy'],
    ["RegExp('a+?b')", 'lazy'],
    ['/(a+)+$/', 'repetition'],
    ['/((?:ab*)|c)*$/', 'repetition'],
    ['/(?:(a|b{2,}))+/', 'repetition'],
  ])('%s is refused', (text, reason) => {
    expect(found(text)).toEqual([expect.stringContaining(reason)])
  })

  test.each([
    '/^[^<]*$/',
    '/a?b*c+/',
    '/[*+?)(]+/',
    '/(?:ab)+c*/',
    '/(a+)?b/',
    '/\\(a+\\)+/',
    '/(a{1,3})+/',
    "RegExp('[a-z]+')",
    '/a{2,5}?/',
  ])('%s is allowed', (text) => {
    expect(found(text)).toEqual([])
  })
})

describe('paths of files', () => {
  const lint = project({
    'shared/files/own-path.ts': "import { join } from 'node:path'\njoin(folder, ...parts)",
    'server/a/constant.ts':
      "import { join } from 'node:path'\njoin(folder, 'tls', '..')\njoin(import.meta.dirname, '../page')\njoin(folder)",
    'server/a/received.ts': "import { join } from 'node:path'\njoin(folder, name)",
    'server/a/spread.ts': "import { resolve } from 'node:path'\nresolve(folder, 'a', ...names)",
    'server/a/template.ts': "import { join } from 'node:path'\njoin(folder, `${name}.mp4`)",
    'server/a/renamed.ts': "import { join as add } from 'path'\nadd(folder, name)",
    'server/a/whole.ts': "import path from 'node:path'\npath.join(folder, name)\npath.win32.resolve(folder, name)",
    'server/a/windows.ts': "import { win32 } from 'node:path'\nwin32.join(folder, name)",
    'server/a/glued.ts': "import { readFile } from 'node:fs/promises'\nreadFile(`${folder}/${name}`)",
    'server/a/list.ts': "names.join(', ')\nPromise.resolve(folder, name)",
  })

  test('constants are joined anywhere, and names that are checked in own-path.ts alone', () => {
    for (const file of ['shared/files/own-path.ts', 'server/a/constant.ts', 'server/a/list.ts'])
      expect(lint('ownPaths', file), file).toEqual([])
  })

  test.each([
    ['received', 1],
    ['spread', 1],
    ['template', 1],
    ['renamed', 1],
    ['whole', 2],
    ['windows', 1],
    ['glued', 1],
  ])('a name that was received is refused: %s', (name, count) => {
    const found = lint('ownPaths', `server/a/${name}.ts`)
    expect(found).toHaveLength(count)
    expect(found[0]).toMatch(/^A path is made by insideOf/)
  })
})

describe('documented API only', () => {
  const uses = (text: string, file = 'server/edge/server.ts'): string[] => project({ [file]: text })('publicApi', file)

  test('methods of foreign prototypes, private members and writing by reflection are refused', () => {
    for (const text of [
      'NetServer.prototype.close.call(server, done)',
      'const handle = socket._handle',
      "const handle = socket['_handle']",
      "Reflect.set(gauge, 'collect', read)",
      'Reflect.apply(taker, server, [socket])',
    ])
      expect(uses(text), text).toHaveLength(1)
  })

  test('reading unknown values, own members and the one file of such places are allowed', () => {
    expect(uses("const field = Reflect.get(value, 'name'); this._own; Object.prototype")).toEqual([])
    expect(uses('NetServer.prototype.close.call(server)', 'server/edge/node-internals.ts')).toEqual([])
  })
})
