import { describe, expect, test } from 'vitest'
import { firstPage, furtherPages, type PageRules } from '../../../renderer/room-page/layout/pages.ts'
import type { Tile } from '../../../renderer/room-page/layout/tiles.ts'
import { tile } from './tile.ts'

const people = (count: number): Tile[] => Array.from({ length: count }, (_, index) => tile(`p${index}`))
const idsOf = (tiles: readonly Tile[]): string[] => tiles.map(({ id }) => id)
const rules = (more: Partial<PageRules> = {}): PageRules => ({
  width: 1_000,
  height: 640,
  most: 4,
  large: null,
  kept: new Set(),
  spoke: [],
  ...more,
})

/** Lists every page, as the stage shows them. */
function pagesOf(tiles: readonly Tile[], given: PageRules): string[][] {
  const first = firstPage(tiles, given)
  return [first, ...furtherPages(tiles, new Set(idsOf(first)), given)].map(idsOf)
}

describe('pages of tiles', () => {
  test('are on one page if they fit', () => {
    expect(pagesOf(people(4), rules())).toEqual([['p0', 'p1', 'p2', 'p3']])
  })

  test('are each on a page, the latest speakers on the first', () => {
    const pages = pagesOf(people(10), rules({ spoke: ['p8'] }))
    expect(pages).toEqual([
      ['p0', 'p1', 'p2', 'p8'],
      ['p3', 'p4', 'p5', 'p6'],
      ['p7', 'p9'],
    ])
  })

  test('include the pinned users and the large picture on each page', () => {
    expect(pagesOf(people(7), rules({ kept: new Set(['p5']) }))).toEqual([
      ['p0', 'p1', 'p2', 'p5'],
      ['p5', 'p3', 'p4', 'p6'],
    ])
    const pages = pagesOf(people(7), rules({ large: 'p6' }))
    for (const page of pages) expect(page).toContain('p6')
    expect(new Set(pages.flat()).size).toBe(7)
  })

  test('do not move when a user of another page speaks', () => {
    const tiles = people(10)
    const first = new Set(idsOf(firstPage(tiles, rules())))
    const before = furtherPages(tiles, first, rules())
    expect(furtherPages(tiles, first, rules({ spoke: ['p9', 'p8'] }))).toEqual(before)
  })

  test('leave room for others, however many are pinned, even on a phone', () => {
    const tiles = people(12)
    const kept = new Set(idsOf(tiles).slice(0, 8))
    for (const given of [rules({ kept }), rules({ kept, width: 374, height: 300, large: 'p0', most: 12 })]) {
      expect(new Set(pagesOf(tiles, given).flat()).size).toBe(12)
    }
  })
})
