import { expect, test } from 'vitest'
import { mount } from '@vue/test-utils'
import { eventMatcher } from '../../../shared/console/event-matcher.ts'
import { capabilityKinds } from '../../../shared/console/capabilities.ts'
import { recordedProcedures } from '../../../shared/console/procedure-facts.ts'
import { type EventEntry, eventKinds } from '../../../shared/domain/events.ts'
import { languages } from '../../../shared/languages.ts'
import { installTexts, showLanguage } from '../../../renderer/console/i18n/index.ts'
import { useEventSearch } from '../../../renderer/console/pages/events/useEventSearch.ts'
import { useEventText } from '../../../renderer/console/pages/events/useEventText.ts'

/** What a component of the page uses. */
function inPage() {
  let used: (ReturnType<typeof useEventSearch> & ReturnType<typeof useEventText>) | undefined
  mount(
    {
      setup: () => {
        used = { ...useEventSearch(), ...useEventText() }
        return () => ''
      },
    },
    { global: { plugins: [{ install: installTexts }] } },
  )
  if (used === undefined) throw new Error('not mounted')
  return used
}

const params = {
  to: 'west',
  version: '1.2.3',
  last_seen: Date.UTC(2026, 10, 20),
  message: 'The disk is full.',
  count: 7,
  seconds: 30,
  url: 'https://desk.example:7080',
  error: 'The node did not answer within 5 s.',
  reason: 'stalled',
  found: 'cameraMissing',
  fault: 'cutOff',
  stayed_ms: 5 * 60_000,
  from: 'east',
  label: 'Morning',
  id: '81',
  bucket: 'archive',
  code: 'AccessDenied',
  folder: '/recordings',
  operation: 'create_room',
  made_by: 'mia',
  user: 'u-1',
  stream: 's-1',
  account: 'mia',
  ended: 3,
  revoked: 2,
  things: 4,
  kept: 'true',
  names: 'true',
  note: 'police',
  endpoint: 'https://s3.example',
  mode: 'slow',
  rules: 2,
  backup: 'monday',
  client: '10.0.0.9',
  controller: 'b',
  name: 'Weekly',
  kind: 'device.lost',
  crash_reports: 'false',
}

const entry = (kind: EventEntry['kind'], further: EventEntry['params'] = {}): EventEntry => ({
  seq: 1,
  at: Date.UTC(2026, 10, 28),
  kind,
  level: 'info',
  actor: { type: 'operator', name: 'desktop', address: '10.0.0.5' },
  subject: { type: 'room', id: '4711', name: 'Lobby' },
  room: '4711',
  params: { ...params, room: 'Lobby', ...further },
  before: { topic: 'Hall' },
  after: { topic: 'Lobby' },
  prev: '',
  hash: '',
})

/** Codes that no sentence shows. */
const codes = ['eventLog', '_ms', 'room.exploded', 'rooms.invert', ...eventKinds, ...recordedProcedures]

/** One entry for every sentence that the log can show, and one of a controller that this page does not know yet. */
const entries = [
  ...eventKinds.flatMap((kind) => [entry(kind), entry(kind, { away_ms: 90_000, blocked: true, why: 'lost' })]),
  ...recordedProcedures.map((procedure) => entry('site.changed', { procedure })),
  ...capabilityKinds.map((link) => entry('link.used', { link, made_by: 'console key' })),
  ...['badLink', 'hostPasswordWrong', 'tooMany'].map((guess) => entry('guesses.refused', { guess })),
  entry('room.exploded' as EventEntry['kind']),
  entry('site.changed', { procedure: 'rooms.invert' }),
]

test.each(languages)(
  'Every event is found by each word of its sentence in $name, and shows no code',
  async ({ id }) => {
    await showLanguage(id)
    const { sentence, wordsOf, shows, details } = inPage()
    const missed: string[] = []
    const searched = new Map<string, ReturnType<typeof wordsOf>>()
    for (const one of entries) {
      const text = sentence(one)
      expect(codes.filter((code) => text.includes(code))).toEqual([])
      expect(
        details(one)
          .map(({ name }) => name)
          .join(),
      ).not.toMatch(/_|eventLog/)
      // Somebody copies the sentence into the field, or types one of its words.
      for (const typed of [text, ...text.split(' ')]) {
        if (!/[\p{L}\p{N}]/u.test(typed)) continue
        const words = searched.get(typed) ?? wordsOf(typed)
        searched.set(typed, words)
        if (!eventMatcher({ words })(one) || !shows(typed)(one)) missed.push(`${typed} — ${text}`)
      }
    }
    expect(missed).toEqual([])
  },
)

test.each([
  ['en', 'deleted'],
  ['de', 'gelöscht'],
  ['zh', '已删除'],
] as const)('In %s, "%s" finds the deleted room and not the created one', async (language, typed) => {
  await showLanguage(language)
  const { wordsOf, shows } = inPage()
  const matches = (one: EventEntry): boolean => eventMatcher({ words: wordsOf(typed) })(one) && shows(typed)(one)
  expect([entry('room.deleted'), entry('room.created'), entry('person.joined')].map(matches)).toEqual([
    true,
    false,
    false,
  ])
})
