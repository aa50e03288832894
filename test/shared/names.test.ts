import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { procedures } from '../../shared/console/contract.ts'
import { isName, shownName, typedName } from '../../shared/control-character.ts'
import { fromPersonSchema } from '../../shared/media/signal.ts'

import { allOperations } from '../../shared/operations.ts'

const unseen = [
  ...['\u0000', '\u0085', '\u00ad', '\u061c', '\u200b', '\u200e', '\u2028', '\u2029', '\u202e', '\u2060', '\u2062'],
  ...['\u2066', '\ufeff', '\ufff9', '\u{e0001}', '\u2800', '\u3164', '\u115f', '\u1160', '\uffa0', '\u034f', '\u17b4'],
]
/** Names that need a joiner or a variation selector: Hindi, Sinhala, Persian, Japanese, Mongolian, emoji. */
const needing = [
  'क्\u200dष',
  'ශ්\u200dරී',
  'می\u200cخواهم',
  '葛\u{e0100}城',
  'ᠡ\u180bᠠ',
  '👨\u200d👩\u200d👧',
  '❤\ufe0f\u200d🔥',
  '🧑🏽\u200d💻',
  '1\ufe0f\u20e3',
]

describe('Names', () => {
  test.each(unseen)('may not contain %j, which is invisible', (character) => {
    for (const name of [character, `${character}${character}`, `Anna${character}`, `An${character}na`]) {
      expect([name, isName(name)]).toEqual([name, false])
      expect(shownName(name)).toBe(name.replaceAll(character, '\ufffd'))
      expect(typedName(name)).toBe(name.replaceAll(character, ''))
    }
  })

  test.each(needing)('may be %s: its script or emoji needs the invisible character', (name) => {
    expect([isName(name), isName(`Room ${name}`), shownName(name), typedName(name)]).toEqual([true, true, name, name])
  })

  test.each(['An\u200dna', 'An\u200cna', 'Анна\u200d', '\u200d', 'अ\u200d', 'a\ufe0f', '山\u200d田'])(
    'may not be %j: the joiner would only make two names that look equal differ',
    (name) => {
      expect(isName(name)).toBe(false)
    },
  )

  test.each([' ', '   ', '\u00a0', '\u3000', ' \u2003 ', '\u0301', ' \u0300\u0302', '\u20e3'])(
    'may not be of spaces and marks only, as %j',
    (name) => {
      expect(isName(name)).toBe(false)
    },
  )

  test('Any displayed or typed text is a valid name', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom(...unseen, '\u200d', '\u200c', '\ufe0f', 'क', '👩', 'a'),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
    })
    fc.assert(
      fc.property(text, (any) => {
        expect(isName(typedName(any)) || typedName(any) === '').toBe(true)
        expect(isName(shownName(any)) || any.trim() === '').toBe(true)
        expect(shownName(shownName(any))).toBe(shownName(any))
      }),
      { numRuns: 500 },
    )
  })
})

/** Keys of texts that people read as names. */
const nameKey = /^(?:name|topic|label|user_?name|userName|title|tag)$/
/** Fields that are no new names: look-ups find what an earlier version stored. */
const lookUps: ReadonlySet<string> = new Set([
  // Logins of other servers, which people do not read as names.
  ...['settings.check.media.ice_servers.username', 'settings.set.media.ice_servers.username'],
  ...['enable', 'disable', 'drain', 'undrain', 'remove', 'janus_config'].map((act) => `nodes.${act}.name`),
  ...['lab.node_trouble.name', 'lab.device_trouble.name'],
])

/** Fields of a schema whose key says that they are names. */
function* namesIn(schema: z.core.$ZodType, path: string): Generator<[path: string, field: z.core.$ZodType]> {
  const part = (key: string): unknown => Reflect.get(schema._zod.def, key)
  if (schema instanceof z.ZodObject) {
    for (const [key, field] of Object.entries<z.core.$ZodType>(schema.shape)) {
      if (nameKey.test(key)) yield [`${path}.${key}`, field]
      yield* namesIn(field, `${path}.${key}`)
    }
    return
  }
  for (const key of ['innerType', 'in', 'element', 'left', 'right', 'valueType'])
    if (part(key) !== undefined) yield* namesIn(part(key) as z.core.$ZodType, path)
  for (const option of (part('options') as z.core.$ZodType[] | undefined) ?? []) yield* namesIn(option, path)
}

describe('Every field for a name refuses invisible characters', () => {
  const fields = [
    ...Object.entries(procedures).flatMap(([name, { input }]) => [...namesIn(input, name)]),
    ...allOperations.flatMap(({ name, params }) => [...namesIn(params, name)]),
    ...namesIn(fromPersonSchema, 'signal'),
  ]

  test('Such fields exist', () => {
    expect(fields.length).toBeGreaterThan(30)
  })

  test.each(fields.filter(([path]) => !lookUps.has(path)))('%s', (_path, field) => {
    for (const name of ['\u200b\u200b', 'An\u2028na', '\u2800', ' \u3164'])
      expect([name, z.safeParse(field, name).success]).toEqual([name, false])
  })
})
