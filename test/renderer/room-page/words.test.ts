import { describe, expect, test } from 'vitest'
import { linkParts } from '../../../renderer/room-page/components/link-parts.ts'
import { invitationOf } from '../../../renderer/room-page/invitation.ts'
import { entryOf } from '../../../renderer/room-page/entry.ts'
import { hueOf, initialsOf } from '../../../renderer/room-page/layout/tiles.ts'
import de from '../../../texts/de/room-page.json'
import en from '../../../texts/en/room-page.json'
import { chooseLanguage, fill, firstLanguage, listed, number, plural } from '../../../renderer/room-page/texts/texts.ts'

/** Makes the token of a link like the controller; the page does not check its signature. */
const tokenOf = (claims: object): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(claims))
  const text = btoa(String.fromCharCode(...bytes))
  return `${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}.signature`
}

describe('the address of the page', () => {
  test('names the room, and the user of a personal link, in any script', () => {
    const token = tokenOf({ name: '王小明 🎥', exp: 42 })
    expect(entryOf({ search: '?roomId=a%20b', hash: `#token=${token}` })).toEqual({
      roomId: 'a b',
      token,
      name: '王小明 🎥',
      expiresAt: 42,
      url: '',
      isForAnybody: false,
    })
  })

  test('is shared by the short address of its link', () => {
    const url = 'https://rooms.example.org/j/Kx7f-9QmT-b3Wz'
    const entry = entryOf({ search: '?roomId=1', hash: `#token=${tokenOf({ role: 'member', url })}` })
    expect(invitationOf(entry, { topic: 'Board', byNumber: false }, 'https://node')?.link).toBe(url)
  })

  test('can be shared only if its link is for anybody and makes nobody host', () => {
    const mayGive = (claims: object): boolean =>
      entryOf({ search: '?roomId=1', hash: `#token=${tokenOf(claims)}` }).isForAnybody
    expect(mayGive({ role: 'member' })).toBe(true)
    for (const claims of [{ role: 'host' }, { role: 'member', user: 'ann' }, { role: 'member', name: 'Ann' }, {}])
      expect(mayGive(claims)).toBe(false)
  })

  test.each([
    ['nothing', '', ''],
    ['a broken token', '?roomId=1', '#token=%%%'],
    ['a token that is not JSON', '?roomId=1', '#token=YWJj.x'],
    ['a token that is a number', '?roomId=1', `#token=${btoa('7')}.x`],
  ])('with %s it does not fail', (_what, search, hash) => {
    expect(entryOf({ search, hash })).toMatchObject({ name: undefined, expiresAt: undefined })
  })
})

describe('a chat message', () => {
  test.each([
    ['see https://a.example/x?y=1, please', ['https://a.example/x?y=1']],
    ['（https://a.example/路径）。', ['https://a.example/路径']],
    ['http://a.example. http://b.example!', ['http://a.example', 'http://b.example']],
    ['javascript:alert(1) data:text/html,x', []],
    ['no link', []],
  ])('%s', (text, links) => {
    const parts = linkParts(text)
    expect(parts.filter(({ link }) => link).map((part) => part.text)).toEqual(links)
    expect(parts.map((part) => part.text).join('')).toBe(text)
  })
})

test.each([
  ['Ann Li', 'AL'],
  ['bo', 'B'],
  ['王小明', '小明'],
  ['guest-4f2a', 'G4'],
  ['Dana (3)', 'D'],
  ['  ', '?'],
])('%s is marked %s', (name, initials) => {
  expect(initialsOf(name)).toBe(initials)
})

test('consecutive ids have different colours', () => {
  const apart = Math.abs(hueOf('u1') - hueOf('u2'))
  expect(Math.min(apart, 360 - apart)).toBeGreaterThan(40)
})

test("the language is the chosen one, else the browser's first one that the page supports", () => {
  expect(firstLanguage('', ['fr', 'zh-TW', 'en'])).toBe('zh')
  expect(firstLanguage('', ['de-AT', 'en'])).toBe('de')
  expect(firstLanguage('', ['fr'])).toBe('en')
  expect(firstLanguage('en', ['zh'])).toBe('en')
  expect(firstLanguage('tlh', ['zh'])).toBe('zh')
})

test('numbers, lists and plurals follow the language', async () => {
  expect(fill(en.you, { name: '{name}' })).toBe('{name} (you)')
  expect(plural(en.announced.joinedMany, 1)).toBe('1 person joined')
  expect(plural(en.announced.joinedMany, 1_200)).toBe('1,200 people joined')
  await chooseLanguage('de')
  expect(plural(de.announced.joined, 2, { names: listed(['Ann', 'Bo']) })).toBe('Ann und Bo sind da')
  expect(number(1_234.5, 1)).toBe('1.234,5')
  await chooseLanguage('en')
})
