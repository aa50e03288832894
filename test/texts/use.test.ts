import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { textsIn } from './catalogue-files.ts'

const root = join(import.meta.dirname, '../..')
const english = textsIn('en')
/** An expression in a template literal, and in its braces one more pair at most. */
const expression = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g

/** Files of the console whose texts its programs read as properties, like those of the other pages. */
const asProperties = ['console/discovery', 'console/readinessFindings', 'console/welcome']
/** Keys of the console that are built from names with dots, or from parts of words: settings, events, orders. */
const builtKeys = ['settings.fields.', 'eventLog.kinds.', 'eventLog.changes.', 'playback.ordered.ask.']
/** Groups of the room page whose names are put together from parts of words. */
const builtFromParts = ['problems.']

function sourcesIn(...paths: string[]): string {
  const files = paths.flatMap((path) => {
    if (statSync(join(root, path)).isFile()) return [path]
    return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((file) => join(path, file))
  })
  const sources = files.filter((file) => /\.(ts|vue)$/.test(file)).map((file) => readFileSync(join(root, file), 'utf8'))
  return sources.join('\n')
}

test('every text of the console is used by its key', () => {
  const source = sourcesIn('renderer', 'shared')
  const literals = new Set([...source.matchAll(/(['"`])([a-zA-Z]\w*(?:\.[\w-]+)+)\1/g)].map(([, , key = '']) => key))
  // `devices.states.${state}` uses every key of that form whose last part is a name in the sources.
  const names = namesIn(source + sourcesIn('server'))
  const templates = [...source.matchAll(/`((?!\$)(?:[\w.-]|\$\{(?:[^{}]|\{[^{}]*\})*\})+)`/g)].map(
    ([, text = '']) => text,
  )
  const forms = [...new Set(templates)].flatMap((text) => {
    const parts = text.split(expression)
    if (parts.length === 1 || parts[0]?.includes('.') !== true) return []
    return [new RegExp(`^${parts.map((part) => part.replaceAll('.', '\\.')).join('([^.]+)')}$`)]
  })
  const isUsed = (key: string): boolean =>
    literals.has(key) ||
    builtKeys.some((start) => key.startsWith(start)) ||
    forms.some(
      (form) =>
        form
          .exec(key)
          ?.slice(1)
          .every((part) => names.has(part) || Number(part) > 0) === true,
    )
  expect(keysOfConsole().filter((key) => !isUsed(key))).toEqual([])
})

test('every key that the console names exists', () => {
  const keys = new Set(keysOfConsole())
  const named = [...sourcesIn('renderer/console').matchAll(/\bt\(\s*'([^']+)'/g)].map(([, key = '']) => key)
  expect(named.length).toBeGreaterThan(1_000)
  expect(named.filter((key) => !keys.has(key))).toEqual([])
})

test.each([
  ['room-page', ['renderer/room-page', 'shared']],
  ['player', ['renderer/player']],
  ['desktop', ['main', 'shared']],
  ['server', ['server/apis', 'server/lab/watch', 'shared/media']],
  ['console/welcome', ['renderer/console/pages/welcome', 'renderer/console/pages/WelcomePage.vue', 'shared']],
  ['console/discovery', ['renderer/console/pages/devices', 'renderer/console/pages/welcome']],
])('every text of %s is named by its page', (file, paths) => {
  const source = sourcesIn(...paths)
  const names = namesIn(source)
  // `${form}Many` names everything that ends so.
  const endings = [...source.matchAll(/\}([A-Z]\w+)`/g)].map(([, ending = '']) => ending)
  const isNamed = (key: string): boolean =>
    builtFromParts.some((start) => key.startsWith(start)) ||
    key.split('.').every((name) => names.has(name) || endings.some((ending) => name.endsWith(ending)))
  expect([...(english.get(file)?.keys() ?? [])].filter((key) => !isNamed(key))).toEqual([])
})

/** Names in sources: strings, and properties that are read, written or taken out of an object. */
function namesIn(source: string): Set<string> {
  const strings = [...source.matchAll(/(['"`])([^'"`\n]{0,40})\1/g)].map(([, , text = '']) => text)
  const properties = [...source.matchAll(/\.(\w+)|\b(\w+)(?=:|,? .*\} = )/g)].map(
    ([, read, named]) => read ?? named ?? '',
  )
  return new Set([...strings, ...properties])
}

/** Keys by which the console reads its texts: the name of the file is the first part, but for `common.json`. */
function keysOfConsole(): string[] {
  return [...english].flatMap(([file, texts]) => {
    if (!file.startsWith('console/') || asProperties.includes(file)) return []
    const name = file.slice('console/'.length)
    return [...texts.keys()].map((key) => (name === 'common' ? key : `${name}.${key}`))
  })
}
