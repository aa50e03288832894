import { expect, test } from 'vitest'
import { type NameRank, DistinctNames } from '../../../../server/media/rooms/distinct-names.ts'

/** Names that people get one after the other; `x → …`: somebody else lost theirs. */
function given(...people: [id: string, name: string, rank?: NameRank][]): string[] {
  const names = new DistinctNames()
  return people.map(([id, name, rank = 'typed']) => {
    const { name: shown, displaced } = names.take(id, name, rank)
    return displaced === undefined ? shown : `${displaced} → ${shown}`
  })
}

test('users with the same name, or one that looks like it, are numbered in the order of their arrival', () => {
  expect(given(['a', 'Camille Martin'], ['b', 'Camille Martin'], ['c', 'camille  martin'])).toEqual([
    'Camille Martin',
    'Camille Martin (2)',
    'camille  martin (3)',
  ])
  // Fullwidth letters, Cyrillic а and е, a composed é, a capital I for an l.
  expect(given(['a', 'Anne'], ['b', 'Ａｎｎｅ'], ['c', 'Аnnе'])).toEqual(['Anne', 'Ａｎｎｅ (2)', 'Аnnе (3)'])
  expect(given(['a', 'Zo\u00e9'], ['b', 'Zoe\u0301'], ['c', 'Paul'], ['d', 'PauI'])).toEqual([
    'Zo\u00e9',
    'Zoe\u0301 (2)',
    'Paul',
    'PauI (2)',
  ])
  // Cyrillic А, а, Н and о, whose small н is no h; Greek Μ and α.
  expect(given(['a', 'Anna Host'], ['b', 'Аnnа Ноst'])).toEqual(['Anna Host', 'Аnnа Ноst (2)'])
  expect(given(['a', 'Mara'], ['b', 'Μαrα'])).toEqual(['Mara', 'Μαrα (2)'])
  expect(given(['a', '王伟'], ['b', '王伟 (2)'], ['c', '王伟'])).toEqual(['王伟', '王伟 (2)', '王伟 (3)'])
})

test('a user who returns has the same name, which nobody gets in between', () => {
  expect(given(['a', 'Bo'], ['b', 'Bo'], ['a', 'Bo'], ['b', 'Bo'])).toEqual(['Bo', 'Bo (2)', 'Bo', 'Bo (2)'])
})

test('the number of a guest who left is free again; a host, a named user and a camera keep their names', () => {
  const names = new DistinctNames()
  const take = (id: string, name: string, rank: NameRank = 'typed'): string => names.take(id, name, rank).name
  expect([take('a', 'Dana'), take('b', 'Dana'), take('c', 'Dana')]).toEqual(['Dana', 'Dana (2)', 'Dana (3)'])
  names.release('b')
  expect([take('d', 'Dana'), take('e', 'Dana')]).toEqual(['Dana (2)', 'Dana (4)'])
  names.release('a')
  expect(take('f', 'Dana')).toBe('Dana')
  for (const rank of ['host', 'named', 'camera'] as const) {
    take(rank, `The ${rank}`, rank)
    names.release(rank)
    expect(take('guest', `The ${rank}`)).toBe(`The ${rank} (2)`)
  }
})

test('a guest with the name of a host or camera gets a number, even if the guest was there first', () => {
  expect(given(['host', 'Ann', 'host'], ['guest', 'ann'], ['yard', 'Yard', 'camera'], ['other', 'Yard'])).toEqual([
    'Ann',
    'ann (2)',
    'Yard',
    'Yard (2)',
  ])
  expect(given(['guest', 'Ann'], ['host', 'Ann', 'host'], ['guest', 'Ann'])).toEqual(['Ann', 'guest → Ann', 'Ann (2)'])
  expect(given(['guest', 'Ann'], ['link', 'Ann', 'named'])).toEqual(['Ann', 'guest → Ann'])
  // Cameras are named by the operator.
  expect(given(['one', 'Yard', 'camera'], ['two', 'Yard', 'camera'])).toEqual(['Yard', 'Yard'])
})
