import { arrange } from './arrange.ts'
import { byImportance, type Interests } from './on-stage.ts'
import type { Tile } from './tiles.ts'

/** Input for the distribution of tiles to pages. */
export interface PageRules extends Interests {
  width: number
  height: number
  /** Maximum number of visible tiles. */
  most: number
  /** Id of the large tile; null: none. */
  large: string | null
}

/**
 * Returns the tiles of the first page if not all fit: the most important ones, which change with the speakers.
 * @returns tiles in their order
 */
export function firstPage(tiles: readonly Tile[], rules: PageRules): Tile[] {
  const { width, height, most, large } = rules
  const important = byImportance(tiles, { kept: keptWith(rules), spoke: rules.spoke }).slice(0, most)
  const ids = important.map(({ id }) => id)
  const { places } = arrange(width, height, ids, large, tiles.length - ids.length)
  return tiles.filter(({ id }) => places.has(id))
}

/**
 * Returns the pages after the first. Pinned tiles are on each of them; every other tile that is not on the first page
 * is on one of them, in order.
 * @param first ids of the first page
 */
export function furtherPages(tiles: readonly Tile[], first: ReadonlySet<string>, rules: PageRules): Tile[][] {
  const { width, height, most, large } = rules
  const always = keptWith(rules)
  const wanted = tiles.filter(({ id }) => always.has(id)).toSorted((one) => (one.id === large ? -1 : 0))
  // Fills up the last page.
  const ids = new Set([...wanted, ...tiles].map(({ id }) => id))
  const { places } = arrange(width, height, [...ids].slice(0, most), large, tiles.length)
  const kept = wanted.slice(0, Math.max(0, places.size - 1))
  const rest = tiles.filter((tile) => !first.has(tile.id) && !kept.includes(tile))
  const each = Math.max(1, places.size - kept.length)
  const pages: Tile[][] = []
  for (let from = 0; from < rest.length; from += each) pages.push([...kept, ...rest.slice(from, from + each)])
  return pages
}

function keptWith({ kept, large }: PageRules): ReadonlySet<string> {
  return large === null ? kept : new Set([...kept, large])
}
